"""Measurement: what running one placement gave.

A placement that cannot run is a Measurement with a status and a reason, never
an exception and never a magic number.

  status: a Status.
  reason: one sentence when the status is not ok, else ''.
  step_times_seconds: the timed steps, in order; () when not ok.
  reference_times_seconds: steps of the reference placement, each taken right
    after the step of the same index (paired); () if there was no reference.
  setup_seconds: import, partition and first run.
  peak_memory_bytes: {device name: peak bytes of a step}; may be empty.
  actual_devices: {op path: device it ran on}, of ops that survived
    optimisation; None where it was not read back.
  removed_ops: number of requested ops that TensorFlow's optimiser removed.
  moved_ops: op paths that ran on another device than requested; must be ().
  partition_hash: hash of the executed partitions: candidates with equal
    hashes are the same program. '' if not read back.
  details: {key: number or text} that a measurer wants to keep in reports.
"""

import dataclasses
import enum
import statistics
from collections.abc import Mapping
from typing import Any


class Status(str, enum.Enum):
  """How a measurement ended."""

  OK = 'ok'
  OUT_OF_MEMORY = 'out_of_memory'
  TIMEOUT = 'timeout'
  UNSUPPORTED_OP = 'unsupported_op'
  INVALID_PLACEMENT = 'invalid_placement'
  CRASHED = 'crashed'
  DEVICE_LOST = 'device_lost'


@dataclasses.dataclass(frozen=True)
class Measurement:
  """What running one placement gave; see the module docstring."""

  status: Status
  reason: str = ''
  step_times_seconds: tuple[float, ...] = ()
  reference_times_seconds: tuple[float, ...] = ()
  setup_seconds: float = 0.0
  peak_memory_bytes: Mapping[str, int] = dataclasses.field(default_factory=dict)
  actual_devices: Mapping[str, str] | None = None
  removed_ops: int = 0
  moved_ops: tuple[str, ...] = ()
  partition_hash: str = ''
  details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

  def __post_init__(self) -> None:
    if self.ok != bool(self.step_times_seconds):
      raise ValueError(
        f'Status {self.status.value} with '
        f'{len(self.step_times_seconds)} step times.'
      )
    if not self.ok and not self.reason:
      raise ValueError(f'Status {self.status.value} needs a reason.')

  @property
  def ok(self) -> bool:
    """Whether the placement ran."""
    return self.status is Status.OK

  @property
  def step_time_seconds(self) -> float | None:
    """The median step, or None when the placement did not run."""
    if not self.step_times_seconds:
      return None
    return statistics.median(self.step_times_seconds)

  def to_json(self) -> dict[str, Any]:
    """A dict for JSON; `actual_devices` is left out for its size."""
    payload = dataclasses.asdict(self)
    payload['status'] = self.status.value
    del payload['actual_devices']
    return payload


def from_json(payload: Mapping[str, Any]) -> Measurement:
  """The inverse of `Measurement.to_json`.

  Args:
    payload: what `to_json` gave, through JSON or not.

  Returns:
    The Measurement, with `actual_devices` None.
  """
  fields = dict(payload)
  fields['status'] = Status(fields['status'])
  for name in ('step_times_seconds', 'reference_times_seconds', 'moved_ops'):
    fields[name] = tuple(fields[name])
  return Measurement(**fields)
