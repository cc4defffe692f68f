"""Disjoint sets of the integers 0..N-1."""

import numpy as np


class UnionFind:
  """Disjoint sets; each set is known by its smallest member."""

  def __init__(self, count: int) -> None:
    self._parent = list(range(count))

  def find(self, item: int) -> int:
    """The smallest member of the set that `item` is in."""
    parent = self._parent
    while parent[item] != item:
      parent[item] = parent[parent[item]]
      item = parent[item]
    return item

  def union(self, a: int, b: int) -> None:
    """Makes one set of the sets of `a` and `b`."""
    a, b = self.find(a), self.find(b)
    if a != b:
      self._parent[max(a, b)] = min(a, b)

  def labels(self) -> np.ndarray:
    """int32 `[N]`: sets numbered 0, 1, ... by their smallest member."""
    roots = np.array([self.find(i) for i in range(len(self._parent))], int)
    return np.unique(roots, return_inverse=True)[1].astype(np.int32)
