"""GuidedSearch: improves placements with a network, sweep by sweep and in sets.

A *round* begins with the best different placements seen so far, its leaders.
From each the network goes through some episodes of one sweep; the best state of
each episode is where a *chain* begins. What the network thought of each group
in it, then proposes moves of whole sets (`guided_moves.py`), which a group by
group policy cannot make without getting worse in between. A chain accepts what
is better, and what is worse with a probability that falls (Metropolis). So an
action of the decision process moves a set, and the best states of a round are
the starts of the next.

The first rounds simulate groups as ops; the later ones, shorter and cooler, the
whole graph, since the best coarse placements are not always the best ones.

How much of what is found is due to the network, says the same search with one
that has no opinion (`benchmarks/placeto_generalisation.py`).

Letters: `L` leaders, `E` episodes of each, `B` = L * E chains, `G` groups, `D`
devices, `T` steps.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from placer.policies import best_seen
from placer.policies import group_moves
from placer.policies import metropolis
from placer.policies.placeto import chains
from placer.policies.placeto import environment
from placer.policies.placeto import graph_batch
from placer.policies.placeto import guided_moves
from placer.policies.placeto import sampling
from placer.policies.placeto import world as world_lib

# Of the best states of a stage; the next begins with them.
_KEPT = 64
Score = Callable[[np.ndarray], np.ndarray]
Watch = Callable[[np.ndarray, np.ndarray], None]


@dataclasses.dataclass(frozen=True)
class Stage:
  """Some rounds.

  Attributes:
    rounds: how many.
    moves: of each chain in a round.
    every: of the states of an episode each so many-th is scored, 0 for the last
      one only.
    hot: temperature of the first move, as a part of the best score.
    cold: of the last move of each round; rounds begin less and less hot.
  """

  rounds: int
  moves: int
  every: int
  hot: float
  cold: float


@dataclasses.dataclass(frozen=True)
class GuidedSearchConfig:
  """Settings of a search.

  Attributes:
    leaders: L.
    temperatures: of the E episodes of a leader: 0 takes the likeliest device.
    orders: of the sweeps, one after the other.
    coarse: stage on groups.
    fine: stage on all ops.
    fine_visits: ops and edges simulated in it at most; 1e8 take about a second
      of two cores.
    equal: see `GuidedMoves`.
    unguided: the part of the moves that are those of `GroupMoves`, which also
      exchange and swap, and ask no network.
  """

  leaders: int = 8
  temperatures: tuple[float, ...] = (0.0, 0.5, 1.0, 1.0)
  orders: tuple[str, ...] = ('topological', 'random', 'cost')
  coarse: Stage = Stage(rounds=10, moves=24, every=2, hot=0.03, cold=0.001)
  fine: Stage = Stage(rounds=8, moves=16, every=0, hot=0.01, cold=0.0002)
  fine_visits: float = 1.2e8
  equal: float = 0.5
  unguided: float = 0.4


def of_rounds(rounds: int) -> GuidedSearchConfig:
  """The default settings, with so many rounds instead of its 10.

  Args:
    rounds: of the coarse stage; the fine one gets as many in proportion.
  """
  config = GuidedSearchConfig()
  share = config.fine.rounds / config.coarse.rounds
  return dataclasses.replace(
    config,
    coarse=dataclasses.replace(config.coarse, rounds=rounds),
    fine=dataclasses.replace(config.fine, rounds=round(share * rounds)),
  )


class GuidedSearch:
  """Searches one problem; see the module docstring."""

  def __init__(
    self,
    world: world_lib.World,
    sample: Callable[..., sampling.Episodes],
    rng: np.random.Generator,
    config: GuidedSearchConfig = GuidedSearchConfig(),
    watch: Watch | None = None,
  ) -> None:
    """Prepares.

    Args:
      world: the problem; some group has a choice.
      sample: `sampling.draw` of the network.
      rng: of all draws.
      config: settings.
      watch: called with all placements int32 `[B, G]` that are simulated
        together, and their seconds.
    """
    self._watch = watch
    self._world, self._sample = world, sample
    self._rng, self._config = rng, config
    allowed = world.arrays.allowed
    self._moves = guided_moves.GuidedMoves(
      group_moves.GroupMoves(world.problem, allowed), allowed, config.equal
    )

  def run(self, starts: np.ndarray, count: int) -> np.ndarray:
    """Searches.

    Args:
      starts: int32 `[K, G]`, legal, at least one.
      count: placements that are wanted.

    Returns:
      int32 `[K, G]`, different, the best first.
    """
    objective = self._world.objective
    coarse = self._stage(self._config.coarse, objective.seconds, starts)
    if not objective.is_coarse:
      return _best(coarse, count)
    fine = self._config.fine
    moves = self._config.fine_visits / max(objective.visits, 1)
    moves /= fine.rounds * self._config.leaders * len(self._config.temperatures)
    fine = dataclasses.replace(fine, moves=int(min(fine.moves, moves)))
    if not fine.moves:
      fine = dataclasses.replace(fine, rounds=0)
    starts = _best(coarse, _KEPT)
    found = self._stage(fine, objective.seconds_op_by_op, starts)
    return _best(found, count)

  def _stage(
    self, stage: Stage, score: Score, starts: np.ndarray
  ) -> best_seen.BestSeen:
    """The best of some rounds."""
    score = self._watched(score)
    best = best_seen.BestSeen(_KEPT)
    starts = np.unique(starts, axis=0).astype(np.int32)
    best.add(starts, score(starts))
    for number in range(stage.rounds):
      hot = metropolis.temperature(
        stage.hot, stage.cold, number / (stage.rounds + 1)
      )
      order = self._config.orders[number % len(self._config.orders)]
      self._round(dataclasses.replace(stage, hot=hot), score, best, order)
    return best

  def _watched(self, score: Score) -> Score:
    if self._watch is None:
      return score

    def watched(rows: np.ndarray) -> np.ndarray:
      values = score(rows)
      self._watch(rows, values)
      return values

    return watched

  def _round(self, stage: Stage, score: Score, best, kind: str) -> None:
    leaders = _best(best, self._config.leaders)
    current, values, log_probs = self._sweep(
      leaders, kind, stage.every, score, best
    )
    walk = chains.Chains.begin(
      self._moves, current, values, log_probs, stage.moves, self._rng
    )
    least = max(values.min(), 1e-30)
    while not walk.is_over:
      heat = metropolis.temperature(
        stage.hot, stage.cold, walk.move / stage.moves
      )
      proposed = walk.propose(self._moves, self._config.unguided, self._rng)
      found = score(proposed)
      best.add(proposed, found)
      walk.accept(proposed, found, heat * least, self._rng)

  def _sweep(self, leaders, kind, every, score, seen):
    """Where chains begin `[B, G]`, its score `[B]`, log-probs `[B, G, D]`."""
    start, order, actions, policy = self._episodes(leaders, kind)
    states = environment.placements(start, order, actions)
    is_new = environment.changes(states, every)
    values = np.full(is_new.shape, np.inf)
    values[is_new] = score(states[is_new])
    seen.add(states[is_new], values[is_new])
    rows, best = np.arange(len(states)), values.argmin(axis=1)
    log_probs = np.empty_like(policy)
    np.put_along_axis(log_probs, order[..., np.newaxis], policy, axis=1)
    return states[rows, best], values[rows, best], log_probs

  def _episodes(self, leaders: np.ndarray, kind: str) -> list[np.ndarray]:
    """Start, order, actions, policy `[B, …]` of E episodes of each leader."""
    world, count = self._world, len(self._config.temperatures)
    batch = graph_batch.stack(
      [world.arrays] * len(leaders), [world.start_features(s) for s in leaders]
    )
    order = world.environment.orders(kind, 1, self._rng)
    episodes = self._sample(
      graph_batch.to_tensors(batch),
      start=tf.constant(np.repeat(leaders[:, np.newaxis], count, 1), tf.int32),
      order=tf.constant(np.tile(order, (len(leaders), count, 1))),
      seed=tf.constant(self._rng.integers(2**31, size=2), tf.int32),
      temperature=tf.constant(self._config.temperatures, tf.float32),
    )
    fields = episodes.start, episodes.order, episodes.actions, episodes.policy
    return [
      value.numpy().reshape(-1, *value.shape[2:].as_list()) for value in fields
    ]


def _best(seen: best_seen.BestSeen, count: int) -> np.ndarray:
  """int32 `[K, G]`, K <= count, the best first."""
  return np.stack(seen.candidates()[:count])
