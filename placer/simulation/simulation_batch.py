"""SimulationBatch: what simulating B placements gave, as arrays.

Letters: `B` candidates, `D` devices. A placement that cannot run has a status
and no step time.

  status: int8 `[B]`, index into `STATUSES`.
  step_time_seconds: float64 `[B]`; NaN where the status is not ok.
  unbounded_seconds: float64 `[B]`, the step if memory had no limit; NaN where
    the placement is not legal, inf where an op cannot run on its device.
  peak_bytes: int64 `[B, D]`, the most memory in use; 0 where not legal.
  memory_bytes: int64 `[D]`, the limits.
"""

import dataclasses

import numpy as np

from placer.core import measurement

# In the order of the codes in kernel.py.
STATUSES = (
  measurement.Status.OK,
  measurement.Status.OUT_OF_MEMORY,
  measurement.Status.INVALID_PLACEMENT,
  measurement.Status.UNSUPPORTED_OP,
)


@dataclasses.dataclass(frozen=True, eq=False)
class SimulationBatch:
  """What B placements gave; see the module docstring."""

  status: np.ndarray
  unbounded_seconds: np.ndarray
  peak_bytes: np.ndarray
  memory_bytes: np.ndarray

  def __len__(self) -> int:
    return len(self.status)

  @property
  def feasible(self) -> np.ndarray:
    """bool `[B]`: which placements run."""
    return self.status == 0

  @property
  def step_time_seconds(self) -> np.ndarray:
    """float64 `[B]`; NaN where a placement does not run."""
    return np.where(self.feasible, self.unbounded_seconds, np.nan)

  @property
  def fullest_device(self) -> np.ndarray:
    """int64 `[B]`: the device whose peak is the largest share of its limit."""
    limits = np.maximum(self.memory_bytes, 1).astype(np.float64)
    return np.argmax(self.peak_bytes / limits, axis=1)

  def best(self) -> int | None:
    """The index of the fastest placement that runs; None if none does."""
    if not self.feasible.any():
      return None
    return int(np.nanargmin(self.step_time_seconds))

  def statuses(self) -> tuple[measurement.Status, ...]:
    """The B statuses."""
    return tuple(STATUSES[code] for code in self.status.tolist())


def reason(
  status: measurement.Status,
  peak_bytes: np.ndarray,
  memory_bytes: np.ndarray,
  names: tuple[str, ...],
) -> str:
  """Why a placement does not run, in one sentence.

  Args:
    status: its status.
    peak_bytes: int64 `[D]`.
    memory_bytes: int64 `[D]`, the limits.
    names: of the D devices.

  Returns:
    A sentence, '' for ok.
  """
  if status is measurement.Status.OUT_OF_MEMORY:
    over = np.flatnonzero(peak_bytes > memory_bytes)
    listed = ', '.join(
      f'{names[d]} needs {peak_bytes[d]:,} of {memory_bytes[d]:,} bytes'
      for d in over.tolist()
    )
    return f'Out of memory in simulation: {listed}.'
  if status is measurement.Status.UNSUPPORTED_OP:
    return 'An op is on a device where its cost is infinite.'
  if status is measurement.Status.INVALID_PLACEMENT:
    return 'A group is on a device that it may not use.'
  return ''
