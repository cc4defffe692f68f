"""Annealing of several candidates at once, in rounds.

    found = search(scores, moves, starts, allowed, rng, config)

`chains` candidates go their own ways: each makes a move, all are scored in one
batch, each accepts or not (Metropolis). The temperature falls through a round;
after it the worse half of the chains go on from the best ones. Rounds start
less hot than the one before: the first explore, the last refine. Where there
are few states all of them are scored instead.

Letters: `B` chains, `G` groups, `D` devices.
"""

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence

import numpy as np

from placer.policies import best_seen
from placer.policies import group_moves
from placer.policies import metropolis

Scores = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class LocalSearchConfig:
  """Settings of a search.

  Attributes:
    evaluations: candidates to be scored in all.
    seconds: a limit on time as well, or None; results then vary.
    chains: B.
    rounds: how often the temperature falls.
    hot: temperature at the start, as a part of the best score.
    cold: temperature at the end of each round, likewise.
    kept: how many of the best candidates are returned.
    all_states: up to so many states are all tried.
  """

  evaluations: int = 30_000
  seconds: float | None = None
  chains: int = 8
  rounds: int = 4
  hot: float = 0.05
  cold: float = 0.001
  kept: int = 32
  all_states: int = 4096


def search(
  scores: Scores,
  moves: group_moves.GroupMoves,
  starts: Sequence[np.ndarray],
  allowed: np.ndarray,
  rng: np.random.Generator,
  config: LocalSearchConfig = LocalSearchConfig(),
) -> list[np.ndarray]:
  """Searches for candidates with low scores.

  Args:
    scores: int32 `[B, G]` -> float64 `[B]`, lower is better; may be inf.
    moves: of the same groups.
    starts: int32 `[G]` each, legal; at least one.
    allowed: bool `[G, D]`.
    rng: of all that is random.
    config: how long and how hot.

  Returns:
    Up to `config.kept` different candidates, the best first.
  """
  if not allowed.size or np.log2(allowed.sum(axis=1)).sum() <= np.log2(
    config.all_states
  ):
    return search_all(scores, allowed, config.kept)
  return _Annealing(scores, moves, starts, rng, config).run()


def search_all(
  scores: Scores, allowed: np.ndarray, kept: int
) -> list[np.ndarray]:
  """Scores every legal candidate.

  Args:
    scores: int32 `[B, G]` -> float64 `[B]`.
    allowed: bool `[G, D]`.
    kept: how many are returned.

  Returns:
    The `kept` best candidates, the best first.
  """
  states = all_states(allowed)
  order = np.argsort(scores(states), kind='stable')[:kept]
  return list(states[order])


def all_states(allowed: np.ndarray) -> np.ndarray:
  """int32 `[B, G]`: every legal candidate.

  Args:
    allowed: bool `[G, D]`.
  """
  choices = [np.flatnonzero(row).tolist() for row in allowed]
  states = list(itertools.product(*choices))
  return np.array(states, np.int32).reshape(len(states), len(allowed))


class _Annealing:
  """One search; `run` once."""

  def __init__(self, scores, moves, starts, rng, config) -> None:
    self._scores, self._moves, self._rng = scores, moves, rng
    self._config = config
    self._best = best_seen.BestSeen(config.kept)
    starts = np.unique(np.stack(starts).astype(np.int32), axis=0)
    values = scores(starts)
    self._best.add(starts, values)
    order = np.argsort(values, kind='stable')[: config.chains]
    turns = order[np.arange(config.chains) % len(order)]
    self._current, self._values = starts[turns], values[turns]
    self._left = config.evaluations - len(starts)

  def run(self) -> list[np.ndarray]:
    config = self._config
    end = None if config.seconds is None else time.monotonic() + config.seconds
    steps = max(1, self._left // (config.chains * config.rounds))
    for number in range(config.rounds):
      hot = metropolis.temperature(
        config.hot, config.cold, number / (config.rounds + 1)
      )
      if number:
        self._select()
      for step in range(steps):
        if end is not None and time.monotonic() > end:
          return self._best.candidates()
        self._step(metropolis.temperature(hot, config.cold, step / steps))
    return self._best.candidates()

  def _step(self, temperature: float) -> None:
    proposed = self._moves.propose(self._current, self._rng)
    values = self._scores(proposed)
    heat = temperature * max(self._best.value, 1e-30)
    accepted = metropolis.accepted(values, self._values, heat, self._rng)
    better = values < self._best.bar
    if better.any():
      self._best.add(proposed[better], values[better])
    self._current = np.where(accepted[:, np.newaxis], proposed, self._current)
    self._values = np.where(accepted, values, self._values)

  def _select(self) -> None:
    """The worse half goes on from the best that was seen."""
    half = len(self._values) // 2
    worst = np.argsort(self._values, kind='stable')[len(self._values) - half :]
    kept = self._best.candidates()
    for turn, row in enumerate(worst.tolist()):
      self._current[row] = kept[turn % min(len(kept), 4)]
    self._values[worst] = self._scores(self._current[worst])
