"""trace_*.json: one predicted step as a Chrome trace, for ui.perfetto.dev.

The Trace Event Format's JSON object: `traceEvents`, `displayTimeUnit` and
`otherData`. Times are microseconds from the start of the step.

  a process a device, in the order of `--devices`, with
    a row a slot: ops ('X', category 'op') and, in 'send' and 'receive'
      category, services, the device being busy with a transfer; where there
      are several slots, or ops take turns, there are several rows, and nothing
      overlaps in one;
    a counter 'memory', bytes in use;
    a mark at its peak, with the largest holders.
  a last process 'transfers', with rows for each pair of devices: transfers
    ('X', category 'transfer') from when the channel takes them to their
    arrival; those on the way at the same time are on rows of their own.

Arguments of an op are its type and group; of a transfer its op, bytes and both
devices. Slots are not in a Schedule: rows are filled first fit, by start.
"""

import json
import os
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from placer.core import placement_problem
from placer.core import schedule as schedule_lib
from placer.reports import trace_rows

_SHOWN_HOLDERS = 10


def build(
  problem: placement_problem.PlacementProblem,
  schedule: schedule_lib.Schedule,
  *,
  label: str = '',
) -> dict[str, Any]:
  """The trace of one step.

  Args:
    problem: N ops on D devices.
    schedule: of a placement of it in which every op ends.
    label: of the placement, for people.

  Returns:
    The dict of the module docstring, with JSON values only.

  Raises:
    ValueError: an op never ends, as one on a device that cannot run it.
  """
  if not np.isfinite(schedule.unbounded_seconds):
    raise ValueError(f'No trace of a step without an end: {schedule.reason}')
  events: list[dict[str, Any]] = []
  for device, place in enumerate(problem.devices.devices):
    events.append(trace_rows.name('process_name', device, 0, place.short_name))
    events += _slots(problem, schedule, device)
    events += _memory(problem, schedule, device)
  last = len(problem.devices)
  events.append(trace_rows.name('process_name', last, 0, 'transfers'))
  events += _transfers(problem, schedule, last)
  return {
    'traceEvents': events,
    'displayTimeUnit': 'ms',
    'otherData': {
      'placement': label,
      'step_time_seconds': schedule.unbounded_seconds,
      'status': schedule.status.value,
      'times': 'predicted by the simulator; nothing in here was measured',
    },
  }


def write(trace: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
  """Writes a trace; an older file is replaced in one step.

  Args:
    trace: what `build` gave.
    path: 'trace_predicted.json'; its folder must exist.
  """
  path = pathlib.Path(path)
  partial = path.with_name(path.name + '.partial')
  text = json.dumps(trace, separators=(',', ':'), allow_nan=False)
  partial.write_text(text + '\n', encoding='utf-8')
  partial.replace(path)


def _slots(problem, schedule, device: int) -> list[dict[str, Any]]:
  """The ops and services of a device."""
  graph = problem.graph
  bars = [
    trace_rows.bar(
      graph.names[op],
      'op',
      schedule.op_start_seconds[op],
      schedule.op_end_seconds[op],
      type=graph.types[op],
      group=int(problem.op_group[op]),
    )
    for op in np.flatnonzero(schedule.op_device == device).tolist()
  ]
  for service in np.flatnonzero(schedule.service_device == device).tolist():
    transfer = int(schedule.service_transfer[service])
    is_sent = schedule.transfer_source[transfer] == device
    bars.append(
      trace_rows.bar(
        graph.names[schedule.transfer_op[transfer]],
        'send' if is_sent else 'receive',
        schedule.service_start_seconds[service],
        schedule.service_end_seconds[service],
        **_route(problem, schedule, transfer),
      )
    )
  return trace_rows.rows(bars, device, 0, 'slot')


def _transfers(problem, schedule, process: int) -> list[dict[str, Any]]:
  """All transfers, by their devices."""
  links: dict[str, list[dict[str, Any]]] = {}
  for transfer in range(len(schedule.transfer_op)):
    route = _route(problem, schedule, transfer)
    links.setdefault(f'{route["source"]} to {route["target"]}', []).append(
      trace_rows.bar(
        problem.graph.names[schedule.transfer_op[transfer]],
        'transfer',
        schedule.transfer_start_seconds[transfer],
        schedule.transfer_end_seconds[transfer],
        **route,
      )
    )
  events: list[dict[str, Any]] = []
  first = 0
  for name in sorted(links):
    rows = trace_rows.rows(links[name], process, first, name)
    first = max(row['tid'] for row in rows) + 1
    events += rows
  return events


def _route(problem, schedule, transfer: int) -> dict[str, Any]:
  tensor = int(schedule.transfer_tensor[transfer])
  devices = problem.devices.devices
  return {
    'bytes': int(problem.graph.tensor_bytes[tensor]) if tensor >= 0 else 0,
    'source': devices[schedule.transfer_source[transfer]].short_name,
    'target': devices[schedule.transfer_target[transfer]].short_name,
  }


def _memory(problem, schedule, device: int) -> Iterable[dict[str, Any]]:
  """The counter of a device and the mark at its peak."""
  rows = np.flatnonzero(schedule.memory_device == device)
  seconds = schedule.memory_time_seconds[rows]
  # Of changes at the same time, the last holds.
  is_last = np.append(seconds[1:] != seconds[:-1], True)
  for row in rows[is_last].tolist():
    yield {
      'name': 'memory',
      'ph': 'C',
      'pid': device,
      'ts': float(schedule.memory_time_seconds[row]) * trace_rows.MICROSECONDS,
      'args': {'bytes': int(schedule.memory_bytes[row])},
    }
  holders = schedule.peak_holders[device]
  names = problem.graph.names
  yield {
    'name': f'peak {int(schedule.peak_bytes[device]):,} bytes',
    'ph': 'i',
    's': 'p',
    'pid': device,
    'tid': 0,
    'ts': float(schedule.peak_time_seconds[device]) * trace_rows.MICROSECONDS,
    'args': {
      f'{holder.kind} {names[holder.op]}': holder.bytes
      for holder in holders[:_SHOWN_HOLDERS]
    },
  }
