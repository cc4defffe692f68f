"""What to re-measure at the end of a search, and how long that takes.

As much as the time allows: first the steps are cut, then the finalists, then
the second-best single device.
"""

import dataclasses
import itertools

from placer.core import trial as trial_lib
from placer.search import history as history_lib

# Enough for an interval of some use (paired_ratio.MIN_PAIRS are the least).
_FEW_STEPS = 10
# Candidates slower than this in their trial aren't worth a final measurement.
_HOPELESS_RATIO = 1.1
# Finalists are among so many of the fastest; a simulation tries thousands.
_LOOKED_AT = 64


@dataclasses.dataclass(frozen=True)
class Plan:
  """What to re-measure.

  Attributes:
    finalists: the best candidates, so many, singles not counted.
    second_single: the second-best single device, too.
    steps: timed steps of each.
  """

  finalists: int = 3
  second_single: bool = True
  steps: int = 20


def plan(
  history: history_lib.History,
  count: int,
  steps: int,
  seconds: float | None,
) -> tuple[Plan, float]:
  """What can be re-measured in the time there is.

  Args:
    history: all trials.
    count: how many candidates to re-measure at best, singles not counted.
    steps: timed steps of each, at best.
    seconds: that it may take; None for no limit.

  Returns:
    The largest Plan that fits, or the smallest of all where none does, and
    the seconds that it is expected to take.
  """
  few = min(steps, _FEW_STEPS)
  for tried in (
    Plan(count, True, steps),
    Plan(count, True, few),
    Plan(min(2, count), True, few),
    Plan(min(2, count), False, few),
    Plan(min(1, count), False, few),
  ):
    expected = _expected_seconds(history, tried)
    if seconds is None or expected <= seconds:
      break
  return tried, expected


def trial_fits(
  history: history_lib.History,
  count: int,
  steps: int,
  left: float,
  kept: float,
) -> bool:
  """Whether there is time for a trial and the re-measurement after it.

  Args:
    history: all trials.
    count: as in `plan`.
    steps: as in `plan`.
    left: seconds there are.
    kept: seconds of them for re-measuring.

  Returns:
    Whether a trial leaves what re-measuring takes of `kept`, or would use only
    time that re-measuring would not.
  """
  trial = history.trial_seconds()
  if left >= trial + plan(history, count, steps, kept)[1]:
    return True
  planned, seconds = plan(history, count, steps, left - trial)
  same = planned == plan(history, count, steps, left)[0]
  return same and left >= trial + seconds


def _expected_seconds(history: history_lib.History, planned: Plan) -> float:
  """What re-measuring will take, from the trials so far; 0 before any ran."""
  reference = history.reference()
  if reference is None:
    return 0.0
  runs = [history.ratio(t) for t in finalists(history, planned.finalists)]
  if planned.second_single and len(history.singles()) > 1:
    runs.append(1.0)
  step = reference.measurement.step_time_seconds
  more = planned.steps - len(reference.measurement.step_times_seconds)
  return sum(
    max(history.trial_seconds() + more * step * (1 + ratio), 0.0)
    for ratio in runs
  )


def finalists(
  history: history_lib.History, count: int
) -> list[trial_lib.Trial]:
  """The best candidates that aren't single devices.

  Args:
    history: all trials.
    count: how many at most.

  Returns:
    Trials: the fastest of each policy, then the others, the fastest first;
    none that is the same program as a single device, or is clearly slower than
    the best of them.
  """
  singles = {t.measurement.partition_hash for t in history.singles()} - {''}
  found: list[trial_lib.Trial] = []
  for trial in itertools.islice(history.fastest(), _LOOKED_AT):
    ratio = history.ratio(trial)
    if history.singles() and ratio > _HOPELESS_RATIO:
      break
    if trial.policy != history_lib.SINGLE and (
      trial.measurement.partition_hash not in singles
    ):
      found.append(trial)
  # The best of each policy before the second of any: short trials are noisy,
  # and the many of one policy would crowd out what another saw first.
  best = {trial.policy: trial for trial in reversed(found)}
  first = [trial for trial in found if best[trial.policy] is trial]
  rest = [trial for trial in found if best[trial.policy] is not trial]
  return (first + rest)[:count]
