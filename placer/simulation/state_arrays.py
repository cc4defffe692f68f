"""Makes the arrays that the compiled simulator writes to."""

import numpy as np

from placer.simulation import records


def make(
  step: records.Step,
  ranked: np.ndarray | None = None,
  *,
  starts: bool = False,
  log: bool = False,
) -> records.State:
  """A State for any placement of a step.

  Args:
    step: N ops, T signals, D devices.
    ranked: int32 `[N]`, the ops by priority; None for first ready, first
      served.
    starts: whether it keeps when each op starts.
    log: whether there is a log.

  Returns:
    The State.
  """
  ops, (signals, devices) = len(step.op_starts), step.in_host.shape
  readers = np.diff(step.signals['first_reader'])
  sends = int(np.minimum(readers, devices - 1).sum())
  rows = records.ROWS_PER_OP * ops + records.ROWS_PER_COPY * (signals + sends)
  state = records.State(
    ops=np.zeros(ops, records.OP_STATE),
    uses=np.zeros((signals, devices), np.int32),
    next_service=np.zeros((signals, devices), np.int64),
    devices=np.zeros(devices, records.DEVICE_STATE),
    channel_free_seconds=np.zeros(int(step.links['channel'].max()) + 1),
    op_start_seconds=np.zeros(ops if starts else 0),
    targets=np.zeros(devices, np.int32),
    # An op has at most its end or its slot to come, a send its next stage.
    events=np.zeros(ops + sends + 1, records.EVENT),
    num_events=np.zeros(1, np.int64),
    left_seconds=np.zeros(ops),
    rank=np.zeros(ops, np.int32),
    ranked=np.zeros(ops, np.int32),
    ready=np.zeros((devices, 0 if ranked is None else ops), np.int32),
    log=np.zeros(rows + 1 if log else 0, records.LOG),
  )
  if ranked is not None:
    set_ranked(state, ranked)
  return state


def set_ranked(state: records.State, ranked: np.ndarray) -> None:
  """Changes the order of priority of a State that has one.

  Args:
    state: made with an order.
    ranked: int32 `[N]`, the ops by priority.
  """
  state.ranked[:] = ranked
  state.rank[ranked] = np.arange(len(ranked), dtype=np.int32)


def make_results(
  step: records.Step, count: int, *, starts: bool = False
) -> records.Results:
  """Results of a batch.

  Args:
    step: N ops, D devices.
    count: B.
    starts: whether to keep when each op starts.

  Returns:
    The Results, to be written to.
  """
  ops, devices = len(step.op_starts), len(step.devices)
  return records.Results(
    status=np.zeros(count, np.int8),
    seconds=np.zeros(count),
    peak_bytes=np.zeros((count, devices), np.int64),
    op_start_seconds=np.full((count, ops) if starts else (0, 0), np.nan),
  )
