"""Archive: the best different placements that a search has seen."""

import numpy as np


class Archive:
  """Keeps placements and their values; the lowest are the best."""

  def __init__(self, most: int = 64) -> None:
    """Makes an empty one.

    Args:
      most: placements that are kept.
    """
    self._most = most
    self._values: dict[bytes, float] = {}

  def __len__(self) -> int:
    return len(self._values)

  def add(self, rows: np.ndarray, values: np.ndarray) -> None:
    """Adds placements.

    Args:
      rows: int32 `[B, G]`.
      values: float `[B]`.
    """
    for i in np.argsort(values, kind='stable')[: self._most].tolist():
      self._values[rows[i].tobytes()] = float(values[i])
    if len(self._values) > 4 * self._most:
      self._values = dict(self._sorted()[: self._most])

  def best(self, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The best ones.

    Args:
      count: at most so many; there has to be one.

    Returns:
      (int32 `[K, G]`, float64 `[K]`), different, the best first.
    """
    found = self._sorted()[: min(count, self._most)]
    rows = np.stack([np.frombuffer(key, np.int32) for key, _ in found])
    return rows, np.array([value for _, value in found])

  def _sorted(self) -> list[tuple[bytes, float]]:
    return sorted(self._values.items(), key=lambda item: item[1])
