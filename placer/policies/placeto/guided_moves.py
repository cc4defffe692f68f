"""GuidedMoves: moves of sets of groups, to where a network would put them.

The sets are those of `group_moves.py`: single groups, blocks, branches, runs,
regions. A move sends a set to one device. How likely it is, is the product of
how often the set is picked and of the geometric mean, over its groups, of the
network's probabilities of that device, mixed with equal ones; a set that is
all there already is not picked. So a set that the network would leave alone
moves seldom, and one that it would have elsewhere moves there.

Letters: `B` placements, `G` groups, `D` devices, `M` sets, `S` moves.
"""

import numpy as np

from placer.policies import group_moves

# A device that the network all but rules out may suit the other groups.
_LEAST_LOG_PROB = -8.0


class GuidedMoves:
  """Draws moves; see the module docstring.

  Attributes:
    moves: the GroupMoves whose sets are moved.
  """

  def __init__(
    self, moves: group_moves.GroupMoves, allowed: np.ndarray, equal: float
  ) -> None:
    """Prepares.

    Args:
      moves: of the groups.
      allowed: bool `[G, D]`.
      equal: 0 … 1, the part of the probabilities that is equal for all devices.
    """
    self.moves, self._allowed, self._equal = moves, allowed, equal
    sets = moves.sets.astype(np.float32)
    self._shares = sets / sets.sum(axis=1, keepdims=True)

  def draw(
    self,
    current: np.ndarray,
    log_probs: np.ndarray,
    count: int,
    rng: np.random.Generator,
  ) -> tuple[np.ndarray, np.ndarray]:
    """Draws moves of each placement.

    Args:
      current: int32 `[B, G]`, legal.
      log_probs: float32 `[B, G, D]`, of the devices for each group.
      count: S.
      rng: of the draws.

    Returns:
      (sets int `[S, B]`, devices int32 `[S, B]`).
    """
    devices = self._allowed.shape[1]
    mean = self._of_sets(np.maximum(log_probs, _LEAST_LOG_PROB))
    weight = np.exp(mean)
    weight /= weight.sum(axis=2, keepdims=True)
    weight = (1 - self._equal) * weight + self._equal / devices
    here = self._of_sets(np.eye(devices, dtype=np.float32)[current])
    weight = np.where(here > 0.9999, 0.0, weight)
    weight *= self.moves.weights[:, np.newaxis]
    total = np.cumsum(weight.reshape(len(current), -1), axis=1, dtype=float)
    draws = rng.random((len(current), count)) * total[:, -1:]
    found = np.stack(
      [np.searchsorted(row, u) for row, u in zip(total, draws, strict=True)]
    )
    sets, device = np.divmod(np.minimum(found.T, total.shape[1] - 1), devices)
    return sets, device.astype(np.int32)

  def apply(
    self, current: np.ndarray, sets: np.ndarray, devices: np.ndarray
  ) -> np.ndarray:
    """Sends a set of each placement; groups that may not go there stay.

    Args:
      current: int32 `[B, G]`, legal; not changed.
      sets: int `[B]`.
      devices: int32 `[B]`.

    Returns:
      int32 `[B, G]`, legal.
    """
    may = self._allowed[:, devices].T & self.moves.sets[sets]
    return np.where(may, devices[:, np.newaxis], current)

  def _of_sets(self, values: np.ndarray) -> np.ndarray:
    """Means over the groups of each set, `[B, M, D]` of `[B, G, D]`."""
    batch, groups, devices = values.shape
    # One product of matrices, not B.
    flat = values.transpose(1, 0, 2).reshape(groups, -1)
    found = self._shares @ flat.astype(np.float32, copy=False)
    return found.reshape(-1, batch, devices).transpose(1, 0, 2)
