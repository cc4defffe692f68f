"""BestSeen: the best different candidates that a search has seen."""

import numpy as np


class BestSeen:
  """Keeps candidates with low scores.

  Attributes:
    bar: the score that a candidate has to be below to get in.
    value: the best score.
  """

  def __init__(self, most: int) -> None:
    """Makes an empty one.

    Args:
      most: candidates that are kept.
    """
    self._most = most
    self._seen: dict[bytes, tuple[float, np.ndarray]] = {}
    self.bar = self.value = np.inf

  def add(self, candidates: np.ndarray, values: np.ndarray) -> None:
    """Takes in B candidates.

    Args:
      candidates: int32 `[B, G]`.
      values: float `[B]`, their scores; of the same candidate the same.
    """
    order = np.argsort(values, kind='stable')[: self._most]
    for row in order.tolist():
      candidate = candidates[row]
      self._seen[candidate.tobytes()] = (float(values[row]), candidate.copy())
    if len(self._seen) > 2 * self._most or self.bar == np.inf:
      self._trim()
    self.value = min(self.value, float(values.min(initial=np.inf)))

  def candidates(self) -> list[np.ndarray]:
    """int32 `[G]` each, the best first."""
    self._trim()
    return [candidate for _, candidate in self._seen.values()]

  def _trim(self) -> None:
    kept = sorted(self._seen.items(), key=lambda item: item[1][0])
    self._seen = dict(kept[: self._most])
    if len(self._seen) == self._most:
      self.bar = list(self._seen.values())[-1][0]
