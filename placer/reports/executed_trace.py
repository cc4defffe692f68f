"""trace_measured.json: one step that was run, as a Chrome trace.

The same format as the predicted step (`chrome_trace.py`), so that the two can
be compared bar by bar in ui.perfetto.dev:

  a process a device, in the order of `--devices`, with ops ('X', category
    'op') in rows, as many as ran at once;
  a last process 'transfers', with rows for each pair of devices: transfers
    ('X', category 'transfer').

Arguments of an op are its type; of a transfer its bytes and both devices.
"""

from collections.abc import Sequence
from typing import Any

from placer.core import device as device_lib
from placer.core import executed_step
from placer.reports import trace_rows


def build(
  step: executed_step.ExecutedStep,
  devices: Sequence[device_lib.Device],
  *,
  label: str = '',
) -> dict[str, Any]:
  """The trace of one step.

  Args:
    step: that was run.
    devices: the D devices.
    label: of the placement, for people.

  Returns:
    The dict of the module docstring, with JSON values only;
    `chrome_trace.write` writes it.
  """
  events: list[dict[str, Any]] = []
  for index, place in enumerate(devices):
    events.append(trace_rows.name('process_name', index, 0, place.short_name))
    bars = [
      trace_rows.bar(
        op.name, 'op', op.start_seconds, op.end_seconds, type=op.type
      )
      for op in step.ops
      if op.device == place.name
    ]
    events += trace_rows.rows(bars, index, 0, 'ops')
  events.append(trace_rows.name('process_name', len(devices), 0, 'transfers'))
  events += _transfers(step, devices)
  return {
    'traceEvents': events,
    'displayTimeUnit': 'ms',
    'otherData': {
      'placement': label,
      'step_time_seconds': step.seconds,
      'times': (
        'measured with traces on, which each op takes some microseconds for'
      ),
    },
  }


def _transfers(
  step: executed_step.ExecutedStep, devices: Sequence[device_lib.Device]
) -> list[dict[str, Any]]:
  """All transfers, by their devices."""
  short = {place.name: place.short_name for place in devices}
  links: dict[str, list[dict[str, Any]]] = {}
  for transfer in step.transfers:
    source = short.get(transfer.source, transfer.source)
    target = short.get(transfer.target, transfer.target)
    links.setdefault(f'{source} to {target}', []).append(
      trace_rows.bar(
        transfer.name,
        'transfer',
        transfer.start_seconds,
        transfer.end_seconds,
        bytes=transfer.bytes,
        source=source,
        target=target,
      )
    )
  events: list[dict[str, Any]] = []
  first = 0
  for link in sorted(links):
    rows = trace_rows.rows(links[link], len(devices), first, link)
    first = max(row['tid'] for row in rows) + 1
    events += rows
  return events
