"""Rounds: episodes of several graphs, drawn together for one update.

Which graphs, starts, orders and actions a round has, follows from the seed, the
number of the round, the network and the states that episodes go on from
(`last`), so a round that was interrupted can be drawn again.

Letters: `P` graphs, `M` of them in a round, `B` episodes of each, `T` steps.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from placer.core import placement_problem
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import environment
from placer.policies.placeto import graph_batch
from placer.policies.placeto import sampling
from placer.policies.placeto import world as world_lib

_MIXED = ('topological', 'random', 'cost', 'reverse')
_MIXED_WEIGHTS = (0.5, 0.25, 0.15, 0.1)


@dataclasses.dataclass(frozen=True, eq=False)
class Round:
  """Episodes that were drawn together.

  Attributes:
    number: of the round.
    measured: only last states are proposed, to run on devices.
    every: steps from one state that is proposed to the next, 0 for the last
      ones only.
    learned: whether to learn from it.
    worlds: indices of the M graphs.
    graphs: GraphBatch of tensors.
    episodes: of tensors.
    told: R of all states in units of the reference, float64 `[B, T_m + 1]`, by
      place in `worlds`; filled as they become known.
  """

  number: int
  measured: bool
  every: int
  learned: bool
  worlds: list[int]
  graphs: graph_batch.GraphBatch
  episodes: sampling.Episodes
  told: dict[int, np.ndarray]

  @property
  def is_told(self) -> bool:
    """Whether R of all graphs is known."""
    return len(self.told) == len(self.worlds)

  def states(self, place: int) -> np.ndarray:
    """All states of one graph's episodes, int32 `[B, T_m + 1, G]`."""
    groups = int((self.episodes.order[place, 0] >= 0).numpy().sum())
    start, order, actions = (
      values[place, :, :groups].numpy()
      for values in (
        self.episodes.start,
        self.episodes.order,
        self.episodes.actions,
      )
    )
    return environment.placements(start, order, actions)


class Rounds:
  """Draws rounds; see the module docstring.

  Attributes:
    problems: the P graphs.
    last: {graph: the state that its episodes go on from, int32 `[G]`}.
    last_seconds: {graph: R of it, in units of the reference}.
  """

  def __init__(
    self,
    problems: Sequence[placement_problem.PlacementProblem],
    config: config_lib.PlacetoConfig,
    seed: int,
    sampler_of: Callable[[int], Callable[..., sampling.Episodes]],
  ) -> None:
    """Prepares.

    Args:
      problems: P graphs.
      config: the settings.
      seed: of all draws.
      sampler_of: of the number of a round, what `sampling.sampler` makes.
    """
    self._config, self._seed, self._sampler_of = config, seed, sampler_of
    self.take_on(problems)

  def take_on(
    self, problems: Sequence[placement_problem.PlacementProblem]
  ) -> None:
    """Goes on with other problems."""
    self.problems = problems
    self.last: dict[int, np.ndarray] = {}
    self.last_seconds: dict[int, float] = {}
    self._worlds: dict[int, world_lib.World] = {}

  @property
  def size(self) -> int:
    """M."""
    return min(self._config.graphs, len(self.problems))

  def world(self, index: int) -> world_lib.World:
    """The World of a problem."""
    if index not in self._worlds:
      problem = self.problems[index]
      self._worlds[index] = world_lib.World(problem, self._config)
    return self._worlds[index]

  def planned(self, drawn: Round, index: int) -> np.ndarray:
    """int32 `[K, G]`: placements that the start of a graph was chosen from."""
    if drawn.learned or index in self.last:
      return np.zeros((0, self.problems[index].num_groups), np.int32)
    return self.world(index).planned

  def draw(self, number: int, measured: bool) -> Round:
    """Draws the episodes of a round.

    Args:
      number: of the round, 0, 1, 2 …
      measured: few episodes, as each is measured on devices.
    """
    rng = np.random.default_rng([self._seed, 1, number, int(measured)])
    config = self._config
    count = config.measured_episodes if measured else config.episodes
    passes = number * self.size // len(self.problems)
    opening = not measured and passes < config.opening
    chosen = [self._graph(number * self.size + i) for i in range(self.size)]
    starts, orders, features = [], [], []
    for index in chosen:
      world = self.world(index)
      start = self._start(index, rng, opening)
      kind = config.order
      if kind == 'mixed':
        kind = rng.choice(_MIXED, p=_MIXED_WEIGHTS)
      order = world.environment.orders(kind, 1, rng)
      orders.append(np.tile(order, (count, 1)))
      starts.append(np.tile(start, (count, 1)))
      features.append(world.start_features(start))
    graphs = graph_batch.to_tensors(
      graph_batch.stack([self.world(i).arrays for i in chosen], features)
    )
    episodes = self._sampler_of(number)(
      graphs,
      start=tf.constant(sampling.pad(starts, 0)),
      order=tf.constant(sampling.pad(orders, -1)),
      seed=tf.constant(rng.integers(2**31, size=2), tf.int32),
      temperature=tf.constant(
        np.linspace(0, 1, count) if opening else np.ones(count), tf.float32
      ),
    )
    return Round(
      number,
      measured,
      0 if opening else config.reward_every,
      not opening,
      chosen,
      graphs,
      episodes,
      {},
    )

  def _graph(self, position: int) -> int:
    """The graph at a position of shuffled passes over all graphs."""
    epoch, place = divmod(position, len(self.problems))
    rng = np.random.default_rng([self._seed, 2, epoch])
    return int(rng.permutation(len(self.problems))[place])

  def _start(
    self, index: int, rng: np.random.Generator, opening: bool
  ) -> np.ndarray:
    world, config = self.world(index), self._config
    restarts, is_random = rng.random(2) < (config.restart, config.random_start)
    if index in self.last and (opening or not restarts):
      return self.last[index]
    if opening:
      return world.best_planned
    return world.random(rng) if is_random else world.single_device
