"""Rewards of placements from their step times; numpy.

Letters: `B` placements, `D` devices. `Outcomes` is what a reward is made of:

  step_seconds: float64 `[B]`, simulated or measured; where a placement does
    not run, what the step would take without limits on memory, or inf.
  feasible: bool `[B]`, which placements run.
  peak_bytes: int64 `[B, D]`, the most memory in use; 0 where it is not known.
  memory_bytes: int64 `[D]`, the limits.

All rewards are finite and capped: one placement that is a thousand times slower
must not decide a whole gradient. `reference_seconds` is the unit of caps: the
step on the best single device as a rule.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from placer.core import cost_model
from placer.core import trial as trial_lib
from placer.simulation import simulation_batch

_GIGABYTE = 1e9


@dataclasses.dataclass(frozen=True, eq=False)
class Outcomes:
  """What B placements came to; see the module docstring."""

  step_seconds: np.ndarray
  feasible: np.ndarray
  peak_bytes: np.ndarray
  memory_bytes: np.ndarray

  def __len__(self) -> int:
    return len(self.step_seconds)

  @property
  def infeasible_rate(self) -> float:
    """The part of the placements that do not run, 0 … 1."""
    return 1.0 - float(np.mean(self.feasible)) if len(self) else 0.0


def of_simulation(batch: simulation_batch.SimulationBatch) -> Outcomes:
  """The Outcomes of simulated placements."""
  seconds = np.where(
    np.isnan(batch.unbounded_seconds), np.inf, batch.unbounded_seconds
  )
  return Outcomes(seconds, batch.feasible, batch.peak_bytes, batch.memory_bytes)


def of_trials(trials: Sequence[trial_lib.Trial], num_devices: int) -> Outcomes:
  """The Outcomes of measured placements; memory is taken as unlimited.

  Args:
    trials: B trials.
    num_devices: D.
  """
  measured = [trial.measurement for trial in trials]
  return Outcomes(
    step_seconds=np.array(
      [m.step_time_seconds if m.ok else np.inf for m in measured], np.float64
    ),
    feasible=np.array([m.ok for m in measured], bool),
    peak_bytes=np.zeros((len(measured), num_devices), np.int64),
    memory_bytes=np.full(num_devices, cost_model.NO_LIMIT, np.int64),
  )


def penalised_seconds(
  outcomes: Outcomes,
  *,
  cap_seconds: float,
  seconds_per_gigabyte: float = 2.0,
) -> np.ndarray:
  """Placeto's memory penalty (appendix A.7): t + c * (m - M), capped.

  Args:
    outcomes: of B placements.
    cap_seconds: the most there is; what cannot run at all has it.
    seconds_per_gigabyte: c, for each 1e9 bytes over a device's limit, of the
      device that is over it by most (2 in the paper).

  Returns:
    float64 `[B]`, finite. A placement that does not run although no limit is
    known to be exceeded has `cap_seconds`.
  """
  limits = np.minimum(outcomes.memory_bytes, np.iinfo(np.int64).max // 2)
  over = np.maximum(outcomes.peak_bytes - limits, 0).max(axis=1, initial=0)
  seconds = outcomes.step_seconds + seconds_per_gigabyte * over / _GIGABYTE
  unexplained = ~outcomes.feasible & (over == 0)
  return np.minimum(np.where(unexplained, np.inf, seconds), cap_seconds)


def negative_sqrt(
  outcomes: Outcomes, *, reference_seconds: float, cap_ratio: float = 10.0
) -> np.ndarray:
  """-sqrt(step time), ColocRL's and HP's reward, in units of the reference.

  Args:
    outcomes: of B placements.
    reference_seconds: positive; a step of so long has the reward -1.
    cap_ratio: a slower step counts as this many references, and so does what
      does not run (10 of them in HP's papers: "invalid -10").

  Returns:
    float64 `[B]`, in [-sqrt(cap_ratio), 0].
  """
  return -np.sqrt(ratios(outcomes, reference_seconds, cap_ratio))


def relative_improvement(
  outcomes: Outcomes, *, reference_seconds: float, cap_ratio: float = 10.0
) -> np.ndarray:
  """(reference - step) / reference: 0.2 is a fifth less time.

  Args:
    outcomes: of B placements.
    reference_seconds: positive.
    cap_ratio: as in `negative_sqrt`.

  Returns:
    float64 `[B]`, in [1 - cap_ratio, 1].
  """
  return 1.0 - ratios(outcomes, reference_seconds, cap_ratio)


def ratios(
  outcomes: Outcomes, reference_seconds: float, cap_ratio: float
) -> np.ndarray:
  """Step times over the reference, with a part for memory, capped.

  A placement that does not fit has its unlimited step, 1, and 10 for each
  multiple of a limit that it exceeds: so the way to one that fits goes down.

  Args:
    outcomes: of B placements.
    reference_seconds: positive.
    cap_ratio: the most there is.

  Returns:
    float64 `[B]`, finite.
  """
  limits = np.maximum(outcomes.memory_bytes, 1).astype(np.float64)
  over = np.maximum(outcomes.peak_bytes / limits - 1, 0).sum(axis=1)
  worse = np.where(over > 0, 1 + 10 * over, np.inf)
  ratio = outcomes.step_seconds / reference_seconds
  ratio = np.where(outcomes.feasible, ratio, ratio + worse)
  return np.minimum(ratio, cap_ratio)
