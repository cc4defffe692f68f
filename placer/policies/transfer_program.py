"""The part of `schedule_program.py` in which signals wait for their channels.

For each signal and each ordered pair of devices there is an interval on their
channel, present if the signal's source is on the one and any reader of another
group on the other. It starts when the signal is out and sent; the readers start
when it has arrived and is received. The intervals of a channel do not overlap.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from placer.policies import planning_graph


def add(
  model: Any,
  graph: planning_graph.PlanningGraph,
  ticks: Callable[[np.ndarray], np.ndarray],
  end: int,
  places: Sequence[Sequence[Any]],
  starts: Sequence[Any],
) -> None:
  """Adds all transfers to a program.

  Args:
    model: CP-SAT's; changed.
    graph: N ops in G groups on D devices.
    ticks: seconds -> whole ticks, rounded down.
    end: no schedule is longer.
    places: [G][D] of 0, 1 or a variable: whether a group is on a device.
    starts: N variables, the ticks at which ops start.
  """
  transfers = _Transfers(model, graph, ticks, end, places, starts)
  for signal in range(len(graph.signals)):
    transfers.add_signal(signal)
  for intervals in transfers.on_channel.values():
    model.add_no_overlap(intervals)


class _Transfers:
  """Adds signal by signal; see the module docstring."""

  def __init__(self, model, graph, ticks, end, places, starts) -> None:
    self._model, self._graph, self._end = model, graph, end
    self._places, self._starts = places, starts
    self._hold = ticks(graph.hold_seconds)
    self._send = ticks(graph.send_seconds)
    self._wire = ticks(graph.wire_seconds)
    self._latency = ticks(graph.latency_seconds)
    self._receive = ticks(graph.receive_seconds)
    self.on_channel: dict[int, list[Any]] = {}

  def add_signal(self, signal: int) -> None:
    graph = self._graph
    group = int(graph.group[graph.signals.source[signal]])
    readers: dict[int, list[int]] = {}
    for reader in graph.readers[signal]:
      readers.setdefault(int(graph.group[reader]), []).append(reader)
    # Readers of the same group are on the same device.
    readers.pop(group, None)
    if not readers:
      return
    for source in np.flatnonzero(graph.allowed[group]).tolist():
      for target in range(graph.num_devices):
        at = signal, source, target
        keeps_busy = self._send[at] + self._wire[at] + self._receive[at]
        if target != source and keeps_busy:
          self._add(signal, readers, source, target)

  def _add(self, signal, readers, source: int, target: int) -> None:
    model, at = self._model, (signal, source, target)
    op = int(self._graph.signals.source[signal])
    here = self._places[int(self._graph.group[op])][source]
    is_sent = model.new_bool_var('')
    start = model.new_int_var(0, self._end, '')
    out = self._starts[op] + int(self._hold[op, source] + self._send[at])
    model.add(start >= out).only_enforce_if(is_sent)
    wire = int(self._wire[at])
    there_at = start + wire + int(self._latency[at] + self._receive[at])
    for group, ops in readers.items():
      there = self._places[group][target]
      if isinstance(there, int) and not there:
        continue
      model.add(is_sent >= here + there - 1)
      both = [p for p in (here, there) if not isinstance(p, int)]
      for reader in ops:
        after = self._starts[reader] >= there_at
        model.add(after).only_enforce_if([is_sent, *both])
    if wire:
      interval = model.new_optional_fixed_size_interval_var(
        start, wire, is_sent, ''
      )
      channel = int(self._graph.channel[at])
      self.on_channel.setdefault(channel, []).append(interval)
