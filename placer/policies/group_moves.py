"""Moves of groups that belong together, for many candidates at once.

A move sends a *set* of groups to another device, exchanges two devices inside
a set, lets one end of a crossing edge join the other end's device, or swaps
two groups. The sets: each group; each block of `block_graph.py`; each branch of
its segments; runs of groups in topological order; regions, which grow from a
group by its heaviest edges. Groups that have no choice never move.

Letters: `B` candidates, `G` groups, `D` devices, `M` sets, `F` edges.
"""

import numpy as np

from placer.core import placement_problem
from placer.policies import block_graph

_REGION_SIZES = (2, 3, 5, 8, 13)
_KINDS = 4
# Send a set, exchange in a set, join over an edge, swap two groups.
_KIND_WEIGHTS = (0.55, 0.1, 0.2, 0.15)
# Single groups, sets of two to four, larger sets.
_SIZE_WEIGHTS = (0.4, 0.3, 0.3)


class GroupMoves:
  """Proposes moves; see the module docstring.

  Attributes:
    sets: bool `[M, G]`.
    weights: float64 `[M]`, how often each is picked; they sum to 1.
  """

  def __init__(
    self, problem: placement_problem.PlacementProblem, allowed: np.ndarray
  ) -> None:
    """Finds the sets.

    Args:
      problem: G groups; a coarse one is quicker to look through.
      allowed: bool `[G, D]`, where the groups may be.
    """
    self._allowed = allowed
    self._devices = allowed.shape[1]
    movable = allowed.sum(axis=1) > 1
    source, target, _ = problem.group_edges
    keep = movable[source] | movable[target]
    self._source, self._target = source[keep], target[keep]
    self._movable = np.flatnonzero(movable)
    self.sets = _sets(problem, movable)
    self.weights = _set_weights(self.sets)

  def propose(
    self, candidates: np.ndarray, rng: np.random.Generator
  ) -> np.ndarray:
    """One random move of each candidate.

    Args:
      candidates: int32 `[B, G]`, legal; not changed.
      rng: of the moves.

    Returns:
      int32 `[B, G]`, legal; some rows may be as they were.
    """
    if not len(self._movable) or self._devices < 2:
      return candidates.copy()
    moved = candidates.copy()
    kinds = rng.choice(_KINDS, len(candidates), p=_KIND_WEIGHTS)
    for kind, move in enumerate(
      (self._send, self._exchange, self._join, self._swap)
    ):
      rows = np.flatnonzero(kinds == kind)
      if len(rows):
        moved[rows] = move(candidates[rows], rng)
    legal = self._allowed[np.arange(candidates.shape[1]), moved]
    return np.where(legal, moved, candidates)

  def _pick(self, count: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Sets bool `[count, G]`, and a member of each."""
    sets = self.sets[rng.choice(len(self.sets), count, p=self.weights)]
    member = np.where(sets, rng.random(sets.shape), -1).argmax(axis=1)
    return sets, member

  def _send(self, candidates, rng) -> np.ndarray:
    count = len(candidates)
    sets, member = self._pick(count, rng)
    before = candidates[np.arange(count), member]
    step = rng.integers(1, self._devices, count)
    device = ((before + step) % self._devices).astype(np.int32)
    return np.where(sets, device[:, np.newaxis], candidates)

  def _exchange(self, candidates, rng) -> np.ndarray:
    count = len(candidates)
    sets, member = self._pick(count, rng)
    one = candidates[np.arange(count), member]
    step = rng.integers(1, self._devices, count)
    other = (one + step) % self._devices
    one, other = one[:, np.newaxis], other[:, np.newaxis]
    swapped = np.where(candidates == one, other, candidates)
    swapped = np.where(candidates == other, one, swapped)
    return np.where(sets, swapped, candidates).astype(np.int32)

  def _join(self, candidates, rng) -> np.ndarray:
    if not len(self._source):
      return self._send(candidates, rng)
    crossing = candidates[:, self._source] != candidates[:, self._target]
    # A random crossing edge of each, any edge where none crosses.
    edge = np.where(crossing, rng.random(crossing.shape), -1).argmax(axis=1)
    forward = rng.random(len(candidates)) < 0.5
    one = np.where(forward, self._source[edge], self._target[edge])
    other = np.where(forward, self._target[edge], self._source[edge])
    rows = np.arange(len(candidates))
    moved = candidates.copy()
    moved[rows, one] = candidates[rows, other]
    return moved

  def _swap(self, candidates, rng) -> np.ndarray:
    rows = np.arange(len(candidates))
    one = rng.choice(self._movable, len(rows))
    differs = candidates != candidates[rows, one][:, np.newaxis]
    other = np.where(differs, rng.random(differs.shape), -1).argmax(axis=1)
    moved = candidates.copy()
    moved[rows, one] = candidates[rows, other]
    moved[rows, other] = candidates[rows, one]
    return moved


def _sets(problem, movable: np.ndarray) -> np.ndarray:
  """bool `[M, G]`: different sets of movable groups, none empty."""
  found = [np.eye(problem.num_groups, dtype=bool)]
  if problem.num_groups:
    blocks = block_graph.build(problem)
    found += [_of_blocks(blocks), _runs(problem.num_groups), _regions(problem)]
  sets = np.concatenate(found) & movable
  return np.unique(sets[sets.any(axis=1)], axis=0)


def _of_blocks(blocks: block_graph.BlockGraph) -> np.ndarray:
  """The blocks, and the branches of segments with several."""
  rows = [blocks.block_of_group == block for block in range(len(blocks))]
  for branches in blocks.segments:
    if len(branches) > 1:
      rows += [np.isin(blocks.block_of_group, branch) for branch in branches]
      rows.append(np.isin(blocks.block_of_group, np.concatenate(branches)))
  return np.array(rows, bool)


def _runs(groups: int) -> np.ndarray:
  """Groups in a row: lengths grow by half, each overlaps the next by half."""
  rows, length = [], 2
  while length < max(groups, 3):
    for first in range(0, groups, max(1, length // 2)):
      rows.append(
        (np.arange(groups) >= first) & (np.arange(groups) < first + length)
      )
    length = int(length * 1.5) + 1
  return np.array(rows, bool).reshape(-1, groups)


def _regions(problem) -> np.ndarray:
  """What grows from each group by the heaviest edge that leaves it."""
  groups = problem.num_groups
  source, target, size = problem.group_edges
  weight = np.zeros((groups, groups))
  # A control edge is worth a byte.
  np.add.at(weight, (source, target), size + 1.0)
  weight += weight.T
  rows = []
  for group in range(groups):
    members = np.zeros(groups, bool)
    members[group] = True
    pull = weight[group].copy()
    for size in range(2, min(_REGION_SIZES[-1], groups) + 1):
      pull[members] = -1
      best = int(pull.argmax())
      if pull[best] <= 0:
        break
      members[best] = True
      pull += weight[best]
      if size in _REGION_SIZES:
        rows.append(members.copy())
  return np.array(rows, bool).reshape(-1, groups)


def _set_weights(sets: np.ndarray) -> np.ndarray:
  """float64 `[M]`: how often each set is picked; sums to 1."""
  sizes = sets.sum(axis=1)
  kind = np.digitize(sizes, (2, 5))
  counts = np.bincount(kind, minlength=3)
  weights = np.asarray(_SIZE_WEIGHTS)[kind] / np.maximum(counts[kind], 1)
  return weights / max(weights.sum(), 1e-30)
