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
_MAX_DRIFT = 2.5


@dataclasses.dataclass(frozen=True, eq=False)
class Observation:
  """A measured candidate.

  Attributes:
    devices: int32 `[K]`, or `[G]`, as the Schedule takes it.
    seconds: its step time, freed from drift by its reference.
  """

  devices: np.ndarray
  seconds: float


def step_seconds(trials: Sequence[trial_lib.Trial]) -> dict[int, float]:
  """Step times that can be compared, of the trials that ran.

  A trial whose reference ran slow ran slow itself. Splits have the same
  reference, so each time is multiplied by what the reference usually takes
  over what it took beside this trial. Single devices are taken as measured:
  they come first, some without a reference, some with another one.

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
    and trials[i].policy != 'single_device'
  }
  usual = float(np.median(list(references.values()))) if references else 0.0
  found = {}
  for i in ran:
    drift = usual / references[i] if i in references else 1.0
    # A host doesn't drift this much: that was another reference.
    if not 1 / _MAX_DRIFT < drift < _MAX_DRIFT:
      drift = 1.0
    found[i] = trials[i].measurement.step_time_seconds * drift
  return found


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
    device = schedule.main_device(seen.devices)
    if device is not None:
      predicted = schedule.makespan(seen.devices)
      factors[device] = seen.seconds / max(predicted, 1e-30)
  if np.isnan(factors).all():
    ratios = [
      seen.seconds / max(schedule.makespan(seen.devices), 1e-30)
      for seen in observations
    ]
    factors[:] = np.median(ratios) if ratios else 1.0
  factors[np.isnan(factors)] = np.nanmean(factors)
  compute = tuple(factors.tolist())
  splits = [
    seen for seen in observations if schedule.main_device(seen.devices) is None
  ]

  def misfit(transfer: float) -> float:
    scale = estimate.Scale(compute, transfer)
    total = _PRIOR * np.log2(transfer) ** 2
    for seen in splits:
      predicted = max(schedule.makespan(seen.devices, scale), 1e-30)
      total += np.log(predicted / seen.seconds) ** 2
    return total

  best = min(_TRANSFERS, key=misfit) if splits else 1.0
  return estimate.Scale(compute, best)
