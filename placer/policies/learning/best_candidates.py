"""The best different candidates of one graph that a learner has seen."""

from collections.abc import Mapping

import numpy as np

from placer.policies.learning import rewards


class BestCandidates:
  """Keeps the fastest that run; of equals the one that came first.

  Attributes:
    candidates: int32 `[K, G]`, the best first.
    seconds: float64 `[K]`, their steps.
  """

  def __init__(self, num_groups: int, most: int = 16) -> None:
    """Makes an empty one.

    Args:
      num_groups: G.
      most: K is at most this.
    """
    self._most = most
    self.candidates = np.zeros((0, num_groups), np.int32)
    self.seconds = np.zeros(0)

  @property
  def best_seconds(self) -> float:
    """The fastest step; inf where none ran yet."""
    return float(self.seconds[0]) if len(self.seconds) else np.inf

  def add(self, candidates: np.ndarray, outcomes: rewards.Outcomes) -> None:
    """Takes in B candidates.

    Args:
      candidates: int32 `[B, G]`.
      outcomes: theirs.
    """
    worst = self.seconds[-1] if len(self.seconds) == self._most else np.inf
    good = outcomes.feasible & (outcomes.step_seconds < worst)
    if not good.any():
      return
    rows = np.concatenate([self.candidates, candidates[good]])
    seconds = np.concatenate([self.seconds, outcomes.step_seconds[good]])
    _, first = np.unique(rows, axis=0, return_index=True)
    first = np.sort(first)
    order = first[np.argsort(seconds[first], kind='stable')][: self._most]
    self.candidates = rows[order].astype(np.int32)
    self.seconds = seconds[order]

  def state(self) -> dict[str, np.ndarray]:
    """All of the state."""
    return {'candidates': self.candidates, 'seconds': self.seconds}

  def set_state(self, state: Mapping[str, np.ndarray]) -> None:
    """The inverse of `state`."""
    self.candidates = np.array(state['candidates'], np.int32)
    self.seconds = np.array(state['seconds'], np.float64)
