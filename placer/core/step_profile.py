"""StepProfile: what the ops of one step took on one device, from traces.

Letters: `N` ops, `T` tensors of the OpGraph.

  op_seconds: float64 `[N]`, the compute time of all runs of an op in a step,
    the median over the traced steps. What TensorFlow's optimiser made (fused,
    folded, moved) counts for the op it came from.
  op_runs: int64 `[N]`, how often it ran in a step on the profiled device; 0
    for ops that did not, or beside it.
  temporary_bytes: int64 `[N]`, what it took and gave back while it ran.
  tensor_bytes: int64 `[T]`, what was allocated for a tensor; -1 where nothing
    was seen of it.
  shares_tensor: int32 `[T]`, the input whose buffer a tensor took over, or -1.
  persistent_bytes: what the device held all through a step: variables,
    constants, and what kernels keep for themselves, such as weights in another
    layout; 0 where nothing was seen of it.
  step_seconds: the median of untraced steps between the traced ones.

Invariants, checked on construction: lengths agree, nothing is negative but
the -1 above.
"""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class StepProfile:
  """What ops took on one device; see the module docstring."""

  op_seconds: np.ndarray
  op_runs: np.ndarray
  temporary_bytes: np.ndarray
  tensor_bytes: np.ndarray
  shares_tensor: np.ndarray
  persistent_bytes: int
  step_seconds: float

  def __post_init__(self) -> None:
    ops, tensors = len(self.op_seconds), len(self.tensor_bytes)
    for name, length, least in (
      ('op_seconds', ops, 0),
      ('op_runs', ops, 0),
      ('temporary_bytes', ops, 0),
      ('tensor_bytes', tensors, -1),
      ('shares_tensor', tensors, -1),
    ):
      value = getattr(self, name)
      if value.shape != (length,):
        raise ValueError(f'{name} has shape {value.shape}, needs ({length},).')
      if not (value >= least).all():
        raise ValueError(f'{name} has the value {value.min()}.')
    if not self.step_seconds > 0:
      raise ValueError(f'step_seconds is {self.step_seconds}.')

  @property
  def is_run(self) -> np.ndarray:
    """bool `[N]`: whether an op ran on the profiled device."""
    return self.op_runs > 0

  def arrays(self) -> dict[str, np.ndarray]:
    """All fields as arrays, for a file; `StepProfile.of` reads them."""
    return {
      field.name: np.asarray(getattr(self, field.name))
      for field in dataclasses.fields(self)
    }

  @classmethod
  def of(cls, arrays: Any) -> 'StepProfile':
    """The StepProfile of what `arrays` gave.

    Args:
      arrays: a mapping from field names to arrays.

    Returns:
      The StepProfile.

    Raises:
      KeyError: a field is missing.
      ValueError: lengths do not agree.
    """
    values = {
      field.name: arrays[field.name] for field in dataclasses.fields(cls)
    }
    values['persistent_bytes'] = int(values['persistent_bytes'])
    values['step_seconds'] = float(values['step_seconds'])
    return cls(**values)
