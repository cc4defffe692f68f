"""History: the trials of a search so far, and how they compare.

Trials are compared by paired ratios, never by absolute times, since a host
drifts by 10 % within a minute. Each trial that ran names, in its
measurement's `details['reference_trial']`, the trial whose placement its
reference steps ran; ratios multiply along these links, so that all are
relative to the first trial that ran. Only where a measurer gave no reference
steps (a simulator has no drift) absolute times are divided.

The reference of the next trial is the best single device so far; when none
runs, the first candidate that does.

In simulation there are thousands of trials a second, so what the loop asks for
after each of them takes no time that grows with their number.
"""

import bisect
import dataclasses
import math
import statistics
from collections.abc import Iterator

import numpy as np

from placer.core import measurement as measurement_lib
from placer.core import trial as trial_lib
from placer.search import paired_ratio

SINGLE = 'single_device'


class History:
  """Trials so far; see the module docstring.

  Attributes:
    trials: list of all trials, in the order of measuring.
  """

  def __init__(self) -> None:
    self.trials: list[trial_lib.Trial] = []
    self._by_candidate: dict[bytes, trial_lib.Trial] = {}
    self._ratios: dict[int, float] = {}
    # (ratio, index) of those that ran, sorted; and of the singles among them.
    self._order: list[tuple[float, int]] = []
    self._singles: list[tuple[float, int]] = []
    self._first: trial_lib.Trial | None = None
    self._lengths: list[float] = []  # seconds, sorted
    self._last_end = 0.0

  def add(self, trial: trial_lib.Trial) -> None:
    """Adds one trial, its index being the number of trials before it."""
    self.trials.append(trial)
    self._by_candidate.setdefault(key(trial.candidate), trial)
    if trial.elapsed_seconds > self._last_end:
      bisect.insort(self._lengths, trial.elapsed_seconds - self._last_end)
    self._last_end = trial.elapsed_seconds
    if trial.measurement.ok:
      ratio = self._ratios[trial.index] = self._ratio_to_first(trial)
      self._first = self._first or trial
      bisect.insort(self._order, (ratio, trial.index))
      if trial.policy == SINGLE:
        bisect.insort(self._singles, (ratio, trial.index))

  def find(self, candidate: np.ndarray) -> trial_lib.Trial | None:
    """The trial of a candidate, or None when it wasn't measured."""
    return self._by_candidate.get(key(candidate))

  def singles(self) -> list[trial_lib.Trial]:
    """The single devices that ran, the fastest first."""
    return [self.trials[index] for _, index in self._singles]

  def reference(self) -> trial_lib.Trial | None:
    """The trial to compare with, None as long as nothing ran."""
    if self._singles:
      return self.trials[self._singles[0][1]]
    return self._first

  def ratio(self, trial: trial_lib.Trial) -> float | None:
    """Step time of a trial over that of `reference`; None if it failed."""
    reference = self.reference()
    if reference is None or trial.index not in self._ratios:
      return None
    return self._ratios[trial.index] / self._ratios[reference.index]

  def best_ratio(self) -> float | None:
    """The smallest ratio of any trial; None as long as nothing ran."""
    reference = self.reference()
    if reference is None:
      return None
    return self._order[0][0] / self._ratios[reference.index]

  def ranked(self) -> list[trial_lib.Trial]:
    """The trials that ran, the fastest first, equal programs once."""
    return list(self.fastest())

  def fastest(self) -> Iterator[trial_lib.Trial]:
    """Yields what `ranked` lists, for those who need only the first few."""
    seen: set[str] = set()
    for _, index in self._order:
      trial = self.trials[index]
      program = trial.measurement.partition_hash or key(trial.candidate).hex()
      # A single device keeps its own row though another candidate is, after
      # TensorFlow's optimiser, the same program.
      if program not in seen or trial.policy == SINGLE:
        yield trial
      seen.add(program)

  def trial_seconds(self) -> float:
    """What one more trial is expected to take: the 75 % quantile so far."""
    if not self._lengths:
      return 0.0
    at = 0.75 * (len(self._lengths) - 1)
    low, high = self._lengths[int(at)], self._lengths[math.ceil(at)]
    return low + (high - low) * (at - int(at))

  def _ratio_to_first(self, trial: trial_lib.Trial) -> float:
    measurement = trial.measurement
    link = measurement.details.get(trial_lib.REFERENCE_KEY)
    if link is None or link not in self._ratios:
      # Only the first trial that runs has no reference to go by.
      return 1.0 if not self._ratios else self._absolute(measurement)
    if measurement.reference_times_seconds:
      own = paired_ratio.ratio(
        measurement.step_times_seconds, measurement.reference_times_seconds
      )
    else:
      other = self.trials[link].measurement.step_times_seconds
      own = paired_ratio.ratio(measurement.step_times_seconds, other)
    return own * self._ratios[link]

  def _absolute(self, measurement: measurement_lib.Measurement) -> float:
    first = self._first.measurement
    return statistics.median(
      measurement.step_times_seconds
    ) / statistics.median(first.step_times_seconds)


def key(candidate: np.ndarray) -> bytes:
  """Equal exactly for equal candidates."""
  return np.ascontiguousarray(candidate, np.int32).tobytes()


def with_reference(
  measurement: measurement_lib.Measurement,
  reference: trial_lib.Trial | None,
) -> measurement_lib.Measurement:
  """The measurement, with the trial that its reference steps ran.

  Args:
    measurement: as a Measurer gave it.
    reference: the trial whose candidate was the reference, or None.

  Returns:
    The measurement with `details['reference_trial']` set, unless None.
  """
  if reference is None:
    return measurement
  details = {**measurement.details, trial_lib.REFERENCE_KEY: reference.index}
  return dataclasses.replace(measurement, details=details)
