"""The live line of a search: what was tried last, the best, what is left.

On a terminal one line that is rewritten; elsewhere (a log, CI) a line a trial,
or one a second where there are more.

    #12 hill_climb 4: 633 ms, 1.34x | best 1.36x | 41 s left
"""

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

import numpy as np

from placer.core import trial as trial_lib


class ProgressLine:
  """Prints a search's progress; pass it as `on_trial` of `search`."""

  def __init__(
    self,
    stream: TextIO | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
  ) -> None:
    """Makes a progress line.

    Args:
      stream: where to print; None for standard error.
      clock: seconds since any fixed moment; tests pass their own.
    """
    self._stream = sys.stderr if stream is None else stream
    self._live = self._stream.isatty()
    self._open = False
    self._clock = clock
    # Seconds between two lines; a simulation has thousands of trials in one.
    self._interval = 0.1 if self._live else 1.0
    self._next = 0.0

  def __call__(
    self,
    trial: trial_lib.Trial,
    best_ratio: float | None,
    remaining_seconds: float | None,
    remaining_trials: int | None,
  ) -> None:
    """Shows one trial.

    Args:
      trial: the last one.
      best_ratio: the best step time so far over that of the best single
        device; None when nothing ran yet.
      remaining_seconds: of the budget, or None without a limit.
      remaining_trials: of the budget, or None without a limit.
    """
    now = self._clock()
    if now < self._next:
      return
    self._next = now + self._interval
    text = line(trial, best_ratio, remaining_seconds, remaining_trials)
    if self._live:
      width = shutil.get_terminal_size().columns - 1
      # Back to the line's start, the text, and clear what was longer before.
      self._stream.write('\r' + text[:width] + '\x1b[K')
      self._open = True
    else:
      self._stream.write(text + '\n')
    self._stream.flush()

  def close(self) -> None:
    """Ends the live line, so that what is printed next has its own."""
    if self._open:
      self._stream.write('\n')
      self._stream.flush()
      self._open = False


def line(
  trial: trial_lib.Trial,
  best_ratio: float | None,
  remaining_seconds: float | None,
  remaining_trials: int | None,
) -> str:
  """The text of the line; the arguments are those of `ProgressLine`."""
  measured = trial.measurement
  text = f'#{trial.index} {trial.label or trial.policy}: '
  if measured.ok:
    text += f'{measured.step_time_seconds * 1e3:.4g} ms'
    if measured.reference_times_seconds:
      reference = np.median(measured.reference_times_seconds)
      text += f', {reference / measured.step_time_seconds:.2f}x'
  else:
    text += measured.status.value
  if best_ratio is not None:
    text += f' | best {1 / best_ratio:.2f}x'
  if remaining_seconds is not None:
    text += f' | {_duration(remaining_seconds)} left'
  if remaining_trials is not None:
    text += f' | {remaining_trials} trials left'
  return text


def _duration(seconds: float) -> str:
  if seconds < 120:
    return f'{seconds:.0f} s'
  if seconds < 7200:
    return f'{seconds / 60:.0f} min'
  return f'{seconds / 3600:.1f} h'
