"""ReadyQueues: ops that wait for a slot of their device, for the reference.

A key is (whether the op has had a slice, number or priority).
"""

import heapq
from collections.abc import Callable, Sequence

_CHEAP_SECONDS = 4e-6

_Row = tuple[tuple[bool, float], int]


class ReadyQueues:
  """A queue for each of D devices; the least key goes first.

  Attributes:
    told: the ops that were added since this was last emptied, in order.
  """

  def __init__(self, count: int, priority: Sequence[float] | None) -> None:
    self.told: list[int] = []
    self._priority = priority
    self._queues: list[list[_Row]] = [[] for _ in range(count)]
    self._added = 0

  def __getitem__(self, device: int) -> list[_Row]:
    return self._queues[device]

  def add(self, op: int, device: int) -> None:
    """Puts an op behind those without a slice, or where its priority says."""
    self.told.append(op)
    self._push(op, device, self._added)

  def resume(self, op: int, device: int) -> None:
    """Puts an op whose slice is over behind all others."""
    self._push(op, device, self._added, is_resumed=True)

  def take(self, device: int) -> int:
    """Removes and returns the next op."""
    return heapq.heappop(self._queues[device])[1]

  def advance(self, device: int, seconds: Callable[[int], float]) -> None:
    """Moves what was told last to where a thread of the executor takes it.

    Args:
      device: where all of `told` are.
      seconds: what an op takes there.
    """
    if self._priority is not None:
      return
    cheap = [op for op in self.told if seconds(op) < _CHEAP_SECONDS]
    others = [op for op in self.told if op not in cheap]
    first = cheap or others[-1:]
    waiting = [row for row in self._queues[device] if row[1] not in self.told]
    heapq.heapify(waiting)
    self._queues[device] = waiting
    for op in others:
      if op not in first:
        self._push(op, device, self._added)
    for op in reversed(first):
      self._push(op, device, -self._added)

  def _push(self, op, device, number, *, is_resumed=False) -> None:
    key = number if self._priority is None else self._priority[op]
    heapq.heappush(self._queues[device], ((is_resumed, key), op))
    self._added += 1
