"""ListSchedule: a step that a list scheduler builds, op by op.

Planners decide which op comes next and where it goes; this keeps the times of
slots and channels, what has been sent already, where groups are bound to, and
memory. It is the simulator's world seen by who builds a schedule, so it differs
from what the simulator does with the placement that results: the ops of a
device need not run first ready, first served, and a slot may be left idle.

Memory is that of Baechi (SoCC 2020, §3): a group takes its bytes on its device
from when it is bound there, for good. How many bytes that are is for the
planner: what it keeps at least, and all outputs at most.
"""

import bisect
from collections.abc import Sequence

import numpy as np

from placer.policies import planning_graph


class ListSchedule:
  """A step that is being built; see the module docstring.

  Attributes:
    device: N device indices, -1 for ops not yet placed.
    end_seconds: N floats, when the results of placed ops are out.
    group_device: G device indices, -1 for groups not yet bound.
  """

  def __init__(
    self,
    graph: planning_graph.PlanningGraph,
    group_bytes: Sequence[int],
    memory_bytes: Sequence[int],
  ) -> None:
    """Makes an empty schedule.

    Args:
      graph: N ops in G groups on D devices.
      group_bytes: G ints, what a group takes.
      memory_bytes: D ints, the limits.
    """
    self._graph = graph
    self._bytes = [int(size) for size in group_bytes]
    self._free_bytes = [int(size) for size in memory_bytes]
    self._group = graph.group.tolist()
    self._hold = graph.hold_seconds.tolist()
    self._gap = graph.gap_seconds.tolist()
    self._source = graph.signals.source.tolist()
    self._stages = np.stack(
      [
        graph.send_seconds,
        graph.wire_seconds,
        graph.latency_seconds,
        graph.receive_seconds,
      ],
      axis=-1,
    ).tolist()
    self._channel = graph.channel.tolist()
    self._channel_free: dict[int, float] = {}
    self._slots = [
      [_Slot() for _ in range(min(count, 16))] for count in graph.slots.tolist()
    ]
    self._arrivals: dict[tuple[int, int], float] = {}
    self.device = [-1] * len(graph)
    self.end_seconds = [0.0] * len(graph)
    self.group_device = [-1] * len(graph.allowed)

  def choices(self, op: int) -> list[int]:
    """The devices that an op may go to.

    Args:
      op: index.

    Returns:
      The one of its group if that is bound; else those with enough memory; else
      the one with most memory left.
    """
    group = self._group[op]
    if self.group_device[group] >= 0:
      return [self.group_device[group]]
    legal = np.flatnonzero(self._graph.allowed[group]).tolist()
    size = self._bytes[group]
    fitting = [d for d in legal if self._free_bytes[d] >= size]
    return fitting or [max(legal, key=lambda d: self._free_bytes[d])]

  def start_seconds(self, op: int, device: int, *, insert: bool) -> float:
    """When an op could start whose inputs all come from placed ops.

    Args:
      op: index.
      device: index.
      insert: whether it may go between ops that were placed before.

    Returns:
      Seconds; what it needs would be sent then.
    """
    ready = 0.0
    for signal in self._graph.inputs[op]:
      ready = max(ready, self._arrival(signal, device))
    busy = self._hold[op][device] + self._gap[op][device]
    return min(
      slot.earliest(ready, busy, insert) for slot in self._slots[device]
    )

  def place(self, op: int, device: int, *, insert: bool) -> float:
    """Places an op and sends what it needs.

    Args:
      op: index; all its inputs come from placed ops.
      device: index.
      insert: whether it may go between ops that were placed before.

    Returns:
      When its results are out, seconds.
    """
    group = self._group[op]
    if self.group_device[group] < 0:
      self.group_device[group] = device
      self._free_bytes[device] -= self._bytes[group]
    ready = 0.0
    for signal in self._graph.inputs[op]:
      ready = max(ready, self._send(signal, device))
    hold = self._hold[op][device]
    start = self._occupy(device, ready, hold + self._gap[op][device], insert)
    self.device[op] = device
    self.end_seconds[op] = start + hold
    return start + hold

  def candidate(self) -> np.ndarray:
    """int32 `[G]`; groups without ops are where they may be first."""
    placed = np.array(self.group_device, np.int32)
    first = self._graph.allowed.argmax(axis=1)
    return np.where(placed >= 0, placed, first).astype(np.int32)

  def _arrival(self, signal: int, device: int) -> float:
    """When a signal is, or could be, on a device."""
    op = self._source[signal]
    source, end = self.device[op], self.end_seconds[op]
    if source == device:
      return end
    if (signal, device) in self._arrivals:
      return self._arrivals[signal, device]
    send, wire, latency, receive = self._stages[signal][source][device]
    channel = self._channel[signal][source][device]
    free = max(end + send, self._channel_free.get(channel, 0.0))
    return free + wire + latency + receive

  def _send(self, signal: int, device: int) -> float:
    """Sends a signal if it has to be; when it is there."""
    op = self._source[signal]
    source, end = self.device[op], self.end_seconds[op]
    if source == device:
      return end
    if (signal, device) not in self._arrivals:
      send, wire, latency, receive = self._stages[signal][source][device]
      if send:
        end = self._occupy(source, end, send, True) + send
      channel = self._channel[signal][source][device]
      free = max(end, self._channel_free.get(channel, 0.0)) + wire
      self._channel_free[channel] = free
      there = free + latency
      if receive:
        there = self._occupy(device, there, receive, True) + receive
      self._arrivals[signal, device] = there
    return self._arrivals[signal, device]

  def _occupy(
    self, device: int, ready: float, seconds: float, insert: bool
  ) -> float:
    """Takes the slot that is free first; the start."""
    slot = min(
      self._slots[device],
      key=lambda slot: slot.earliest(ready, seconds, insert),
    )
    start = slot.earliest(ready, seconds, insert)
    slot.take(start, start + seconds)
    return start


class _Slot:
  """The busy times of one slot, merged where they touch."""

  def __init__(self) -> None:
    self._starts: list[float] = []
    self._ends: list[float] = []

  def earliest(self, ready: float, seconds: float, insert: bool) -> float:
    """The first start not before `ready`."""
    if not self._ends:
      return ready
    if not insert or ready >= self._ends[-1]:
      return max(ready, self._ends[-1])
    at = bisect.bisect_right(self._ends, ready)
    start = ready
    for i in range(at, len(self._starts)):
      if start + seconds <= self._starts[i]:
        return start
      start = max(start, self._ends[i])
    return start

  def take(self, start: float, end: float) -> None:
    if end <= start:
      return
    at = bisect.bisect_left(self._starts, start)
    if at and self._ends[at - 1] == start:
      at -= 1
      self._ends[at] = end
    else:
      self._starts.insert(at, start)
      self._ends.insert(at, end)
    if at + 1 < len(self._starts) and self._starts[at + 1] == end:
      self._ends[at] = self._ends.pop(at + 1)
      del self._starts[at + 1]
