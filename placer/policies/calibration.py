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


def step_seconds(trials: Sequence[trial_lib.Trial]) -> dict[int, float]:
  """Step times that can be compared, of the trials that ran.

  Hosts drift, so a trial is compared with the steps of its reference that ran
  between its own. These ratios multiply along the links from a trial to its
  reference (`details['reference_trial']`) down to the first trial, whose step
  is the median of what all references say of it: a first measurement, with the
  host still cold, is one of many. A trial without reference counts as measured.

  Args:
    trials: of one search, the reference of a trial before it.

  Returns:
    {position in `trials`: seconds}.
  """
  ratios: dict[int, float] = {}  # to the first trial, by index
  firsts: list[float] = []
  linked: dict[int, float] = {}
  unlinked: dict[int, float] = {}
  for i, trial in enumerate(trials):
    measured = trial.measurement
    link = measured.details.get(trial_lib.REFERENCE_KEY)
    if not measured.ok:
      continue
    if not ratios:
      ratio, first = 1.0, measured.step_time_seconds
    elif link in ratios and measured.reference_times_seconds:
      reference = float(np.median(measured.reference_times_seconds))
      ratio = ratios[link] * measured.step_time_seconds / reference
      first = reference / ratios[link]
    else:
      unlinked[i] = measured.step_time_seconds
      continue
    ratios[trial.index] = linked[i] = ratio
    firsts.append(first)
  usual = float(np.median(firsts)) if firsts else 0.0
  found = {i: usual * ratio for i, ratio in linked.items()} | unlinked
  return dict(sorted(found.items()))


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
