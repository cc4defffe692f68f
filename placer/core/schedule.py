"""Schedule: all that one simulated step of a placement does, for traces.

Letters: `N` ops, `D` devices, `X` transfers, `S` services, `M` changes of
memory. Times are seconds from the start of the step; arrays of ops are in the
order of the OpGraph.

  status: a Status: ok, out_of_memory or unsupported_op.
  reason: one sentence when the status is not ok, else ''.
  unbounded_seconds: float, the step if memory had no limit.
  op_device: int32 `[N]`.
  op_start_seconds, op_end_seconds: float64 `[N]`.

Transfers, a tensor going from one device to another, by start:
  transfer_op: int32 `[X]`, the op whose output is sent.
  transfer_tensor: int32 `[X]`, the tensor, or -1 for a control signal.
  transfer_source, transfer_target: int32 `[X]`, devices.
  transfer_start_seconds: float64 `[X]`, when the channel takes it.
  transfer_end_seconds: float64 `[X]`, when it arrives.

Services, a device being busy with sending or receiving, by end:
  service_device: int32 `[S]`.
  service_transfer: int32 `[S]`, index of the transfer.
  service_start_seconds, service_end_seconds: float64 `[S]`.

Memory; a change holds from its time to the device's next one, and those at
the same time come in order:
  memory_time_seconds: float64 `[M]`; the first D are the devices at 0.
  memory_device: int32 `[M]`.
  memory_bytes: int64 `[M]`, bytes in use from then on.
  peak_bytes: int64 `[D]`.
  peak_time_seconds: float64 `[D]`, when the peak is first reached.
  peak_holders: D tuples of Holders, what is in memory then, largest first.

`Holder`:
  kind: 'persistent', 'temporary', 'output' or 'received'.
  op: int, the op that keeps, uses or made it.
  tensor: int, or -1 where it is not a tensor.
  bytes: int.
"""

import dataclasses

import numpy as np

from placer.core import measurement


@dataclasses.dataclass(frozen=True)
class Holder:
  """What holds memory; see the module docstring."""

  kind: str
  op: int
  tensor: int
  bytes: int


@dataclasses.dataclass(frozen=True, eq=False)
class Schedule:
  """One simulated step; see the module docstring."""

  status: measurement.Status
  reason: str
  unbounded_seconds: float
  op_device: np.ndarray
  op_start_seconds: np.ndarray
  op_end_seconds: np.ndarray
  transfer_op: np.ndarray
  transfer_tensor: np.ndarray
  transfer_source: np.ndarray
  transfer_target: np.ndarray
  transfer_start_seconds: np.ndarray
  transfer_end_seconds: np.ndarray
  service_device: np.ndarray
  service_transfer: np.ndarray
  service_start_seconds: np.ndarray
  service_end_seconds: np.ndarray
  memory_time_seconds: np.ndarray
  memory_device: np.ndarray
  memory_bytes: np.ndarray
  peak_bytes: np.ndarray
  peak_time_seconds: np.ndarray
  peak_holders: tuple[tuple[Holder, ...], ...]

  @property
  def ok(self) -> bool:
    """Whether the placement runs."""
    return self.status is measurement.Status.OK

  @property
  def step_time_seconds(self) -> float | None:
    """The step, or None where the placement does not run."""
    return self.unbounded_seconds if self.ok else None
