"""The live line of training: samples, the best so far, what is left.

    2,048 samples | inception_v3 0.176 s, 1.21x | reward -0.912 | 31 s left

On a terminal one line that is rewritten; elsewhere a line each two seconds.
"""

import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO


class TrainingProgress:
  """Prints the progress; pass it as `on_update` of a trainer."""

  def __init__(
    self,
    titles: Sequence[str],
    reference_seconds: Sequence[float],
    stream: TextIO | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
  ) -> None:
    """Makes a progress line.

    Args:
      titles: of the graphs.
      reference_seconds: of each, the step on the best single device.
      stream: where to print; None for standard error.
      clock: seconds since any fixed moment; tests pass their own.
    """
    self._titles, self._reference = titles, reference_seconds
    self._stream = sys.stderr if stream is None else stream
    self._live = self._stream.isatty()
    self._clock = clock
    self._interval = 0.1 if self._live else 2.0
    self._next = 0.0
    self._open = False

  def __call__(
    self, line: Mapping[str, Any], seconds_left: float | None
  ) -> None:
    """Shows one update.

    Args:
      line: of the trainer's curve.
      seconds_left: about, or None.
    """
    now = self._clock()
    if now < self._next:
      return
    self._next = now + self._interval
    text = self.text(line, seconds_left)
    if self._live:
      width = shutil.get_terminal_size().columns - 1
      self._stream.write('\r' + text[:width] + '\x1b[K')
      self._open = True
    else:
      self._stream.write(text + '\n')
    self._stream.flush()

  def text(self, line: Mapping[str, Any], seconds_left: float | None) -> str:
    """The text of the line; the arguments are those of a call."""
    graph, best = line['graph'], line['best_seconds']
    found = 'nothing runs yet'
    if best is not None:
      faster = self._reference[graph] / best
      found = f'{best:.4g} s, {faster:.2f}x'
    parts = [
      f'{line["samples"]:,} samples',
      f'{self._titles[graph]} {found}',
      f'reward {line["reward"]:.3f}',
    ]
    if seconds_left is not None:
      parts.append(f'{seconds_left:.0f} s left')
    return ' | '.join(parts)

  def close(self) -> None:
    """Ends the live line, so that what is printed next has its own."""
    if self._open:
      self._stream.write('\n')
      self._stream.flush()
      self._open = False
