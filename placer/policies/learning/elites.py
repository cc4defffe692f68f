"""Elites: the decisions that made the best placements so far.

Letters: `K` elites, kept in the order of their rewards, the best first; the
decisions of one are a tuple of int32 rows, in the terms of a network.
"""

from collections.abc import Mapping, Sequence

import numpy as np


class Elites:
  """See the module docstring.

  Attributes:
    rewards: float64 `[K]`.
    chosen: a tuple of int32 `[K, …]`; () before there are any.
  """

  def __init__(self, most: int) -> None:
    """Makes an empty one.

    Args:
      most: K is at most this; 0 keeps none.
    """
    self._most = most
    self.rewards = np.zeros(0)
    self.chosen: tuple[np.ndarray, ...] = ()

  def __len__(self) -> int:
    return len(self.rewards)

  def add(
    self,
    rewards: np.ndarray,
    chosen: Sequence[np.ndarray],
    feasible: np.ndarray,
  ) -> None:
    """Takes in B placements.

    Args:
      rewards: float `[B]`.
      chosen: int32 arrays whose first axes divide B: one row can belong to
        several placements that follow each other.
      feasible: bool `[B]`; others are left out.
    """
    rows = np.flatnonzero(feasible)
    if not len(rows) or not self._most:
      return
    count = len(rewards)
    new = [part[rows // (count // len(part))] for part in chosen]
    if len(self):
      new = [np.concatenate(pair) for pair in zip(self.chosen, new)]
    values = np.concatenate([self.rewards, np.asarray(rewards)[rows]])
    flat = np.concatenate([part.reshape(len(part), -1) for part in new], axis=1)
    _, first = np.unique(flat, axis=0, return_index=True)
    first = np.sort(first)
    order = first[np.argsort(-values[first], kind='stable')][: self._most]
    self.rewards = values[order]
    self.chosen = tuple(part[order].astype(np.int32) for part in new)

  def filled(self) -> tuple[np.ndarray, ...]:
    """`chosen` with as many rows as there can be, the best ones repeated."""
    turns = np.arange(self._most) % max(len(self), 1)
    return tuple(part[turns] for part in self.chosen)

  def state(self) -> dict[str, np.ndarray]:
    """All of the state."""
    parts = {f'chosen_{i}': part for i, part in enumerate(self.chosen)}
    return {'rewards': self.rewards, **parts}

  def set_state(self, state: Mapping[str, np.ndarray]) -> None:
    """The inverse of `state`."""
    self.rewards = np.array(state['rewards'])
    self.chosen = tuple(
      np.array(state[f'chosen_{i}'], np.int32) for i in range(len(state) - 1)
    )
