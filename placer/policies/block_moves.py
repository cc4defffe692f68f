"""Moves of blocks, and annealing with them: pure functions of arrays.

A move changes the device of something that belongs together, never of a lone
op: a block, a connected region, a run in topological order, a branch's worth
of a segment, or one side of a boundary between two devices. Letters: `K`
blocks, `D` devices.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from placer.policies import block_graph

Score = Callable[[np.ndarray], float]


@dataclasses.dataclass(frozen=True, eq=False)
class Visited:
  """A state that annealing came by.

  Attributes:
    devices: int32 `[K]`.
    score: what the score function gave it; lower is better.
  """

  devices: np.ndarray
  score: float


def move(
  blocks: block_graph.BlockGraph,
  devices: np.ndarray,
  rng: np.random.Generator,
) -> np.ndarray:
  """Makes one random move.

  Args:
    blocks: K blocks.
    devices: int32 `[K]`, a legal device for each; not changed.
    rng: of the move.

  Returns:
    int32 `[K]`, legal; may be equal to `devices` where nothing can move.
  """
  kind = _KINDS[int(rng.choice(len(_KINDS), p=_WEIGHTS))]
  return _legal(blocks, devices, kind(blocks, devices, rng))


def anneal(
  blocks: block_graph.BlockGraph,
  score: Score,
  start: np.ndarray,
  rng: np.random.Generator,
  *,
  evaluations: int,
  temperature: float,
) -> list[Visited]:
  """Simulated annealing from a start.

  Args:
    blocks: K blocks.
    score: int32 `[K]` -> float, lower is better.
    start: int32 `[K]`, legal.
    rng: of the moves.
    evaluations: calls of `score`.
    temperature: at the start, as a part of the start's score; falls to a
      hundredth of that.

  Returns:
    The different states that were accepted, the best first; never empty.
  """
  current = best = score(start)
  devices = start
  seen = {start.tobytes(): Visited(start, current)}
  hot = temperature * max(best, 1e-30)
  for step in range(1, evaluations):
    proposed = move(blocks, devices, rng)
    if proposed.tobytes() in seen:
      value = seen[proposed.tobytes()].score
    else:
      value = score(proposed)
    heat = hot * 0.01 ** (step / evaluations)
    if value <= current or rng.random() < np.exp((current - value) / heat):
      devices, current = proposed, value
      seen.setdefault(proposed.tobytes(), Visited(proposed, value))
  return sorted(seen.values(), key=lambda visited: visited.score)


def _legal(blocks, devices, proposed) -> np.ndarray:
  """`proposed`, but blocks that may not go there stay where they were."""
  may = blocks.allowed[np.arange(len(devices)), proposed]
  return np.where(may, proposed, devices).astype(np.int32)


def _one_block(blocks, devices, rng) -> np.ndarray:
  return _sent(devices, [int(rng.integers(len(blocks)))], blocks, rng)


def _region(blocks, devices, rng) -> np.ndarray:
  """A block and some of its neighbours, their neighbours …"""
  size = 2 + int(rng.geometric(0.4))
  members = [int(rng.integers(len(blocks)))]
  for _ in range(size):
    around = blocks.neighbours[members[int(rng.integers(len(members)))]]
    if around:
      other = around[int(rng.integers(len(around)))]
      if other not in members:
        members.append(other)
  return _sent(devices, members, blocks, rng)


def _run(blocks, devices, rng) -> np.ndarray:
  """Some blocks in a row, in topological order."""
  first = int(rng.integers(len(blocks)))
  length = int(rng.integers(1, max(2, len(blocks) // 3)))
  members = list(range(first, min(len(blocks), first + length)))
  return _sent(devices, members, blocks, rng)


def _boundary(blocks, devices, rng) -> np.ndarray:
  """One end of an edge between two devices joins the other."""
  crossing = np.flatnonzero(devices[blocks.source] != devices[blocks.target])
  if not len(crossing):
    return _one_block(blocks, devices, rng)
  edge = int(crossing[rng.integers(len(crossing))])
  one, other = int(blocks.source[edge]), int(blocks.target[edge])
  if rng.random() < 0.5:
    one, other = other, one
  proposed = devices.copy()
  proposed[one] = devices[other]
  return proposed


def _branches(blocks, devices, rng) -> np.ndarray:
  """The branches of one segment are dealt out anew."""
  segments = [s for s in blocks.segments if len(s) > 1]
  if not segments:
    return _region(blocks, devices, rng)
  proposed = devices.copy()
  for branch in segments[int(rng.integers(len(segments)))]:
    proposed[list(branch)] = rng.integers(blocks.allowed.shape[1])
  return proposed


def _swap(blocks, devices, rng) -> np.ndarray:
  """Two blocks of different devices change places."""
  one = int(rng.integers(len(blocks)))
  others = np.flatnonzero(devices != devices[one])
  if not len(others):
    return _one_block(blocks, devices, rng)
  # Near in topological order is near in the step.
  near = others[np.argsort(np.abs(others - one), kind='stable')[:4]]
  other = int(near[rng.integers(len(near))])
  proposed = devices.copy()
  proposed[one], proposed[other] = devices[other], devices[one]
  return proposed


def _sent(devices, members, blocks, rng) -> np.ndarray:
  """All members on one device, another than the first one's."""
  proposed = devices.copy()
  choices = np.flatnonzero(blocks.allowed[members[0]])
  choices = choices[choices != devices[members[0]]]
  if len(choices):
    proposed[members] = choices[rng.integers(len(choices))]
  return proposed


_KINDS = (_one_block, _region, _run, _boundary, _branches, _swap)
_WEIGHTS = (0.3, 0.15, 0.1, 0.15, 0.15, 0.15)
