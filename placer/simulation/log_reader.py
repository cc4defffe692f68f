"""LogReader: from the log of the compiled simulator to a Schedule."""

import numpy as np

from placer.core import cost_model as cost_model_lib
from placer.core import measurement
from placer.core import placement_problem
from placer.core import schedule as schedule_lib
from placer.simulation import records
from placer.simulation import signal_graph
from placer.simulation import simulation_batch

_LAST_OF_MEMORY = records.ARRIVED


class LogReader:
  """Reads one log of one candidate."""

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    costs: cost_model_lib.CostModel,
    signals: signal_graph.SignalGraph,
    candidate: np.ndarray,
    log: np.ndarray,
  ) -> None:
    """Takes what is needed to read.

    Args:
      problem: N ops on D devices.
      costs: of it.
      signals: of it.
      candidate: int `[G]`.
      log: `records.LOG`, as the kernel leaves it.
    """
    self._problem = problem
    self._costs = costs
    self._signals = signals
    self._op_device = np.asarray(candidate)[problem.op_group].astype(np.int32)
    self._rows = log[1 : 1 + int(log[0]['index'])]
    graph = problem.graph
    self._first_tensor = np.searchsorted(
      graph.tensor_source, np.arange(len(graph) + 1)
    ).tolist()
    self._is_read = signals.of_tensors(len(graph.tensor_bytes)) >= 0

  def schedule(
    self, status: measurement.Status, seconds: float, peak_bytes: np.ndarray
  ) -> schedule_lib.Schedule:
    """The Schedule of the log.

    Args:
      status: how the step ends.
      seconds: when it ends.
      peak_bytes: int64 `[D]`.

    Returns:
      The Schedule.
    """
    transfers = self._of(records.WIRE_STARTS)
    transfers = transfers[np.argsort(transfers['seconds'], kind='stable')]
    arrivals = self._of(records.ARRIVED)
    signal = transfers['index']
    names = self._problem.devices.names
    limits = self._costs.memory_bytes
    return schedule_lib.Schedule(
      status=status,
      reason=simulation_batch.reason(status, peak_bytes, limits, names),
      unbounded_seconds=seconds,
      op_device=self._op_device,
      op_start_seconds=self._op_seconds(records.OP_STARTS),
      op_end_seconds=self._op_seconds(records.OP_ENDS),
      transfer_op=self._signals.source[signal],
      transfer_tensor=self._signals.tensor[signal],
      transfer_source=self._op_device[self._signals.source[signal]],
      transfer_target=transfers['device'].copy(),
      transfer_start_seconds=transfers['seconds'].copy(),
      transfer_end_seconds=arrivals['seconds'][self._find(transfers, arrivals)],
      **self._services(transfers),
      **self._memory(peak_bytes),
    )

  def _of(self, kind: int) -> np.ndarray:
    return self._rows[self._rows['kind'] == kind]

  def _op_seconds(self, kind: int) -> np.ndarray:
    rows = self._of(kind)
    seconds = np.full(len(self._op_device), np.inf)
    seconds[rows['index']] = rows['seconds']
    return seconds

  def _find(self, wanted: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """int `[...]`: the row of the same signal and target for each wanted."""
    count = len(self._problem.devices)
    keys = rows['index'] * count + rows['device']
    order = np.argsort(keys)
    found = np.searchsorted(
      keys[order], wanted['index'] * count + wanted['device']
    )
    return order[found]

  def _services(self, transfers: np.ndarray) -> dict[str, np.ndarray]:
    starts, ends = [], []
    for start, end in (
      (records.SEND_STARTS, records.SENT),
      (records.RECEIVE_STARTS, records.RECEIVED),
    ):
      rows = self._of(end)
      ends.append(rows)
      starts.append(self._of(start)[self._find(rows, self._of(start))])
    rows, begun = np.concatenate(ends), np.concatenate(starts)
    order = np.argsort(rows['seconds'], kind='stable')
    rows, begun = rows[order], begun[order]
    sources = self._op_device[self._signals.source[rows['index']]]
    return {
      'service_device': np.where(
        rows['kind'] == records.SENT, sources, rows['device']
      ).astype(np.int32),
      'service_transfer': self._find(rows, transfers).astype(np.int32),
      'service_start_seconds': begun['seconds'].copy(),
      'service_end_seconds': rows['seconds'].copy(),
    }

  def _memory(self, peak_bytes: np.ndarray) -> dict[str, object]:
    count = len(peak_bytes)
    persistent = np.bincount(
      self._op_device, self._problem.graph.persistent_bytes, minlength=count
    ).astype(np.int64)
    rows = self._rows[self._rows['kind'] <= _LAST_OF_MEMORY]
    device = np.concatenate([np.arange(count), rows['device']])
    level = np.concatenate([persistent, rows['live_bytes']])
    seconds = np.concatenate([np.zeros(count), rows['seconds']])
    peaks = [
      int(np.flatnonzero((device == d) & (level == peak_bytes[d]))[0])
      for d in range(count)
    ]
    return {
      'memory_time_seconds': seconds,
      'memory_device': device.astype(np.int32),
      'memory_bytes': level,
      'peak_bytes': peak_bytes,
      'peak_time_seconds': seconds[peaks],
      'peak_holders': tuple(
        self._holders(
          d, rows[: peak - count + 1] if peak >= count else rows[:0]
        )
        for d, peak in enumerate(peaks)
      ),
    }

  def _holders(
    self, device: int, rows: np.ndarray
  ) -> tuple[schedule_lib.Holder, ...]:
    """What is in the memory of a device after some rows of the log."""
    graph = self._problem.graph
    here = np.flatnonzero(
      (self._op_device == device) & (graph.persistent_bytes > 0)
    )
    held = {
      ('persistent', op, -1): int(graph.persistent_bytes[op])
      for op in here.tolist()
    }
    for row in rows[rows['device'] == device]:
      kind = int(row['kind'])
      changed = self._changed(kind, int(row['index']), device)
      if kind in (records.OP_READY, records.OP_STARTS, records.ARRIVED):
        held.update(changed)
      else:
        for key in changed:
          held.pop(key, None)
    holders = [schedule_lib.Holder(*key, size) for key, size in held.items()]
    holders.sort(key=lambda holder: (-holder.bytes, holder.op, holder.tensor))
    return tuple(holder for holder in holders if holder.bytes)

  def _changed(
    self, kind: int, index: int, device: int
  ) -> dict[tuple[str, int, int], int]:
    """What a row takes or gives back: (kind, op, tensor) to bytes."""
    in_host = self._costs.host_output
    if kind in (records.OP_READY, records.OP_STARTS, records.OP_ENDS):
      # What somebody reads stays when the op ends.
      tensors = [
        tensor
        for tensor in range(*self._first_tensor[index : index + 2])
        if kind != records.OP_ENDS or not self._is_read[tensor]
      ]
      return {
        ('temporary', index, -1): int(self._costs.temporary_bytes[index])
      } | {
        ('output', index, tensor): int(self._costs.resident_bytes[tensor])
        for tensor in tensors
        if not in_host[tensor, device]
      }
    op, tensor = int(self._signals.source[index]), self._signals.tensor[index]
    size = 0
    if tensor >= 0 and not in_host[tensor, device]:
      size = int(self._problem.graph.tensor_bytes[tensor])
    is_made_here = self._op_device[op] == device
    return {('output' if is_made_here else 'received', op, int(tensor)): size}
