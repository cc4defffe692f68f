"""Budget: when a search has to stop.

  seconds: `--budget_seconds`, wall time over all resumed runs, the final
    re-measurement included; None for no limit.
  trials: `--budget_trials`, measured candidates over all resumed runs,
    baselines included, the final re-measurement not; None for no limit.

With neither, a search goes on until its policies have no more suggestions.
The clock starts when the loop calls `start`.
"""

import time
from collections.abc import Callable

from placer.core import errors


class Budget:
  """Limits of a search and what is left; see the module docstring."""

  def __init__(
    self,
    seconds: float | None = None,
    trials: int | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
  ) -> None:
    """Makes a budget.

    Args:
      seconds: wall time, or None for no limit.
      trials: measured candidates, or None for no limit.
      clock: seconds since any fixed moment; tests pass their own.

    Raises:
      UsageError: a limit is not positive.
    """
    for flag, limit in (('seconds', seconds), ('trials', trials)):
      if limit is not None and limit <= 0:
        raise errors.UsageError(
          f'--budget_{flag}={limit} must be positive. Leave it out for no '
          'limit.'
        )
    self.seconds = seconds
    self.trials = trials
    self._clock = clock
    self._origin = clock()
    self._spent_trials = 0

  def start(self, *, spent_seconds: float = 0.0, spent_trials: int = 0) -> None:
    """Starts the clock, with what earlier runs of the search have spent."""
    self._origin = self._clock() - spent_seconds
    self._spent_trials = spent_trials

  def spend_trial(self) -> None:
    """Counts one measured candidate."""
    self._spent_trials += 1

  @property
  def elapsed_seconds(self) -> float:
    """Time since the search began, over all its resumed runs."""
    return self._clock() - self._origin

  @property
  def remaining_seconds(self) -> float | None:
    """Seconds left, not below 0; None without a limit."""
    if self.seconds is None:
      return None
    return max(0.0, self.seconds - self.elapsed_seconds)

  @property
  def remaining_trials(self) -> int | None:
    """Trials left, not below 0; None without a limit."""
    if self.trials is None:
      return None
    return max(0, self.trials - self._spent_trials)

  @property
  def progress(self) -> float | None:
    """The part that is spent, 0 … 1, of the tighter limit; None without."""
    parts = []
    if self.seconds is not None:
      parts.append(self.elapsed_seconds / self.seconds)
    if self.trials is not None:
      parts.append(self._spent_trials / self.trials)
    return min(1.0, max(parts)) if parts else None

  def allows(self, needed_seconds: float = 0.0) -> bool:
    """Whether one more trial fits.

    Args:
      needed_seconds: what the trial, and all that must follow it, will take.

    Returns:
      False when the trials are used up or `needed_seconds` are not left.
    """
    if self.remaining_trials == 0:
      return False
    left = self.remaining_seconds
    return left is None or (left > 0 and left >= needed_seconds)
