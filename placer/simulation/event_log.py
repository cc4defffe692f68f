"""The log of a step, compiled: what happens when, for schedules.

A placement of a batch writes no log; its `records.State.log` has no rows.
"""

from placer.simulation import compiled


@compiled.inlined
def note(state, kind, index, device, seconds):
  """Writes a row of the log, if there is one.

  Args:
    state: a `records.State`.
    kind: see `records`.
    index: op or signal.
    device: where; the row has its bytes in use.
    seconds: when.
  """
  if state.log.shape[0]:
    state.log[0].index += 1
    row = state.log[state.log[0].index]
    row.seconds, row.kind, row.index = seconds, kind, index
    row.device, row.live_bytes = device, state.devices[device].live_bytes
