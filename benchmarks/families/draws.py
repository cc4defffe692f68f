"""Random draws that are the same on every machine, for good.

The members of a family and its halves are fixed, so they must not change with
a release of numpy or Python, whose generators promise no such thing. Each draw
is a hash of the seed, of what is drawn for, and of how many came before it.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar('_T')


class Draws:
  """A sequence of draws, one sequence for each (seed, purpose)."""

  def __init__(self, seed: int, purpose: str):
    """Starts the sequence.

    Args:
      seed: Any integer.
      purpose: What is drawn for, such as 'cifar10/7'.
    """
    self._prefix = f'{seed}/{purpose}'
    self._count = 0

  def integer(self, low: int, high: int) -> int:
    """Returns an integer of low..high, both included, all alike likely.

    Args:
      low: The smallest.
      high: The largest, at least `low`.
    """
    digest = hashlib.sha256(f'{self._prefix}/{self._count}'.encode()).digest()
    self._count += 1
    # 256 bits: what the remainder favours is beyond notice.
    return low + int.from_bytes(digest, 'big') % (high - low + 1)

  def choice(self, values: Sequence[_T]) -> _T:
    """Returns one of the values, all alike likely."""
    return values[self.integer(0, len(values) - 1)]
