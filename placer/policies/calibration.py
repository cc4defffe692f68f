"""Fits the estimate to what was measured.

The time of each single device fixes the factor of its compute. The times of
splits fix the one factor of all transfers, among a few powers of two: with a
dozen noisy trials no more can be told apart.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from placer.core import trial as trial_lib
from placer.policies import estimate

_TRANSFERS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
# What an error of a factor 2 in the transfers costs beside an error of the
# predicted steps, both as squares of logarithms: keeps 1 if all fit alike.
_PRIOR = 2e-3


@dataclasses.dataclass(frozen=True, eq=False)
class Observation:
  """A measured candidate.

  Attributes:
    devices: int32 `[K]`, or `[G]`, as the Schedule takes it.
    seconds: its step time, freed from drift by its reference.
  """

  devices: np.ndarray
  seconds: float

  @property
  def single(self) -> bool:
    """Whether everything is on one device."""
    return len(np.unique(self.devices)) <= 1


def step_seconds(trials: Sequence[trial_lib.Trial]) -> dict[int, float]:
  """Step times that can be compared, of the trials that ran.

  A trial whose reference ran slow ran slow itself. All splits have the same
  reference, so each time is multiplied by what the reference usually takes
  over what it took beside this trial. Single devices are taken as measured:
  they come first, some without a reference.

  Args:
    trials: of one search, any order.

  Returns:
    {position in `trials`: seconds}.
  """
  ran = [i for i, trial in enumerate(trials) if trial.measurement.ok]
  references = {
    i: float(np.median(trials[i].measurement.reference_times_seconds))
    for i in ran
    if trials[i].measurement.reference_times_seconds
    and len(np.unique(trials[i].candidate)) > 1
  }
  usual = float(np.median(list(references.values()))) if references else 0.0
  return {
    i: trials[i].measurement.step_time_seconds
    * (usual / references[i] if i in references else 1.0)
    for i in ran
  }


def fit(
  schedule: estimate.Schedule,
  observations: Sequence[Observation],
  num_devices: int,
) -> estimate.Scale:
  """The Scale that explains the observations best.

  Args:
    schedule: of the problem.
    observations: measured candidates.
    num_devices: D.

  Returns:
    The Scale; all 1 without observations.
  """
  factors = np.full(num_devices, np.nan)
  for seen in observations:
    if seen.single and len(seen.devices):
      predicted = schedule.makespan(seen.devices)
      factors[seen.devices[0]] = seen.seconds / max(predicted, 1e-30)
  if np.isnan(factors).all():
    ratios = [
      seen.seconds / max(schedule.makespan(seen.devices), 1e-30)
      for seen in observations
    ]
    factors[:] = np.median(ratios) if ratios else 1.0
  factors[np.isnan(factors)] = np.nanmean(factors)
  compute = tuple(factors.tolist())
  splits = [seen for seen in observations if not seen.single]

  def misfit(transfer: float) -> float:
    scale = estimate.Scale(compute, transfer)
    total = _PRIOR * np.log2(transfer) ** 2
    for seen in splits:
      predicted = schedule.makespan(seen.devices, scale)
      total += np.log(predicted / seen.seconds) ** 2
    return total

  best = min(_TRANSFERS, key=misfit) if splits else 1.0
  return estimate.Scale(compute, best)
