"""PlacetoLearner: REINFORCE or PPO on episodes of many graphs.

A *round* is one update of the network from `graphs` graphs, the paper's
synchronous workers: their episodes are drawn together, padded to the same
shape, in one tf.function. Each graph is a proposal of its own, so the graphs of
a round are proposed and told one after the other; with the last one the network
learns from all. What is proposed of a graph are all states of its episodes that
differ from the one before; each counts as a sample.

On devices (`measured`) a state costs seconds, so only the last states of a few
episodes are proposed, and only the end is rewarded.

Letters: `M` graphs of a round, `B` episodes of each, `T` steps, `G` groups.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from placer.core import placement_problem
from placer.policies.learning import baselines
from placer.policies.learning import learner
from placer.policies.learning import optimizer as optimizer_lib
from placer.policies.learning import rewards
from placer.policies.learning import schedules
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import environment
from placer.policies.placeto import gradient
from placer.policies.placeto import graph_batch
from placer.policies.placeto import networks
from placer.policies.placeto import returns
from placer.policies.placeto import sampling
from placer.policies.placeto import world as world_lib

_MIXED = ('topological', 'random', 'cost', 'reverse')
_MIXED_WEIGHTS = (0.5, 0.25, 0.15, 0.1)
# Measured steps count as at most so many references.
_MOST_MEASURED = 10.0


@dataclasses.dataclass(frozen=True, eq=False)
class _Round:
  """Episodes that were drawn together.

  Attributes:
    number: of the round.
    measured: only last states are proposed.
    worlds: indices of the M graphs.
    graphs: GraphBatch of tensors.
    episodes: of tensors.
    told: R of all states in units of the reference, float64 `[B, T_m + 1]`, by
      place in `worlds`.
  """

  number: int
  measured: bool
  worlds: list[int]
  graphs: graph_batch.GraphBatch
  episodes: sampling.Episodes
  told: dict[int, np.ndarray]


class PlacetoLearner(learner.Learner):
  """Learns to improve placements; see the module docstring.

  Attributes:
    network: what decides.
  """

  def __init__(
    self,
    problems: Sequence[placement_problem.PlacementProblem],
    config: config_lib.PlacetoConfig,
    seed: int,
    reference_seconds: Sequence[float],
  ) -> None:
    """Makes the network.

    Args:
      problems: P graphs, each with at least one group.
      config: the settings.
      seed: of weights and episodes.
      reference_seconds: P numbers, the unit of rewards.
    """
    self.problems = problems
    self.reference_seconds = reference_seconds
    self.network = networks.make(config, len(problems[0].devices), seed)
    self._config, self._seed = config, seed
    self._entropy = schedules.Linear(
      config.entropy_first, config.entropy_last, max(config.updates, 1)
    )
    self._optimizer = optimizer_lib.Optimizer(
      self.network.trainable_variables,
      schedules.Linear(
        config.learning_rate_first,
        config.learning_rate_last,
        max(config.updates * config.epochs, 1),
      ),
      config.max_gradient_norm,
    )
    self._gradient = gradient.Gradient(
      self.network,
      self._optimizer,
      clip=config.clip if config.epochs > 1 else None,
    )
    self._sample = tf.function(
      functools.partial(sampling.draw, self.network), reduce_retracing=True
    )
    self._baseline = baselines.PerStepBaseline(config.window)
    self._worlds: dict[int, world_lib.World] = {}
    # The best states of the last episodes of each graph.
    self._last: dict[int, np.ndarray] = {}
    self._round: _Round | None = None
    self._told: dict[int, np.ndarray] = {}
    self._learned = {'entropy': 0.0, 'gradient_norm': 0.0}

  def world(self, index: int) -> world_lib.World:
    """The World of a problem."""
    if index not in self._worlds:
      problem = self.problems[index]
      self._worlds[index] = world_lib.World(problem, self._config)
    return self._worlds[index]

  def propose(self, update: int, *, measured: bool = False) -> learner.Proposal:
    size = min(self._config.graphs, len(self.problems))
    number, place = divmod(update, size)
    known = self._round
    if known is None or (known.number, known.measured) != (number, measured):
      known = self._round = self._draw(number, measured, size)
      known.told.update(self._told)
      self._told = {}
    graph = known.worlds[place]
    start, order, actions = _of_graph(known.episodes, place, self.world(graph))
    states = environment.placements(start, order, actions)
    if measured:
      return learner.Proposal(graph, states[:, -1], (known, place, None))
    is_new = environment.changes(states)
    return learner.Proposal(graph, states[is_new], (known, place, is_new))

  def learn(
    self, proposal: learner.Proposal, outcomes: rewards.Outcomes
  ) -> Mapping[str, float]:
    drawn, place, is_new = proposal.context
    reference = self.reference_seconds[proposal.graph]
    if drawn.measured:
      ratios = rewards.ratios(outcomes, reference, _MOST_MEASURED)
      steps = int((drawn.episodes.order[place, 0] >= 0).numpy().sum())
      seconds = np.zeros((len(ratios), steps + 1))
      seconds[:, -1] = ratios
    else:
      values = self.world(proposal.graph).objective.penalised(outcomes)
      seconds = environment.of_all_states(values, is_new) / reference
    drawn.told[place] = seconds
    if len(drawn.told) == len(drawn.worlds):
      self._update(drawn)
    return {
      'reward': -float(seconds[:, -1].mean()),
      'baseline': -float(seconds[:, 0].mean()),
      **self._learned,
    }

  def trackables(self) -> Mapping[str, tf.Module]:
    return {'network': self.network, 'optimizer': self._optimizer}

  def arrays(self) -> Mapping[str, np.ndarray]:
    told = {} if self._round is None else self._round.told
    unfinished = told if len(told) < self._size(self._round) else {}
    return {
      **{f'last/{g}': row for g, row in self._last.items()},
      **{f'baseline/{g}': v for g, v in self._baseline.state().items()},
      **{f'told/{place}': rows for place, rows in unfinished.items()},
      'learned': np.array(list(self._learned.values())),
    }

  def set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
    below = lambda prefix: {
      name.removeprefix(prefix): value
      for name, value in arrays.items()
      if name.startswith(prefix)
    }
    self._last = {int(g): row for g, row in below('last/').items()}
    self._baseline.set_state(below('baseline/'))
    self._told = {int(place): rows for place, rows in below('told/').items()}
    self._learned = dict(
      zip(self._learned, arrays['learned'].tolist(), strict=True)
    )
    self._round = None

  def configuration(self) -> Mapping[str, Any]:
    return {'policy': 'placeto', **dataclasses.asdict(self._config)}

  def _size(self, drawn: _Round | None) -> int:
    return 0 if drawn is None else len(drawn.worlds)

  def _draw(self, number: int, measured: bool, size: int) -> _Round:
    """Draws the episodes of a round."""
    rng = np.random.default_rng([self._seed, 1, number, int(measured)])
    config = self._config
    count = config.measured_episodes if measured else config.episodes
    chosen = [self._graph(number * size + i) for i in range(size)]
    starts, orders, features = [], [], []
    for index in chosen:
      world = self.world(index)
      start = self._start(index, rng)
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
    episodes = self._sample(
      graphs,
      start=tf.constant(sampling.pad(starts, 0)),
      order=tf.constant(sampling.pad(orders, -1)),
      seed=tf.constant(rng.integers(2**31, size=2), tf.int32),
      temperature=tf.ones([count]),
    )
    return _Round(number, measured, chosen, graphs, episodes, {})

  def _graph(self, position: int) -> int:
    """The graph at a position of shuffled passes over all graphs."""
    epoch, place = divmod(position, len(self.problems))
    rng = np.random.default_rng([self._seed, 2, epoch])
    return int(rng.permutation(len(self.problems))[place])

  def _start(self, index: int, rng: np.random.Generator) -> np.ndarray:
    world, config = self.world(index), self._config
    restarts, is_random = rng.random(2) < (config.restart, config.random_start)
    if not restarts and index in self._last:
      return self._last[index]
    return world.random(rng) if is_random else world.single_device

  def _update(self, drawn: _Round) -> None:
    """Learns from all graphs of a round."""
    shape = drawn.episodes.order.shape
    advantages = np.zeros(shape, np.float32)
    for place, index in enumerate(drawn.worlds):
      seconds = drawn.told[place]
      found = self._advantages(index, seconds, drawn.measured)
      advantages[place, :, : found.shape[1]] = found
      self._remember(drawn, place, seconds)
    weight = self._entropy(drawn.number)
    for _ in range(self._config.epochs):
      self._optimizer.start_update()
      entropy, norm = self._gradient(
        drawn.graphs,
        drawn.episodes,
        tf.constant(advantages),
        tf.constant(weight, tf.float32),
      )
    self._learned = {'entropy': float(entropy), 'gradient_norm': float(norm)}

  def _advantages(
    self, index: int, seconds: np.ndarray, measured: bool
  ) -> np.ndarray:
    config = self._config
    gained = self.world(index).environment.rewards_of(seconds)
    found = returns.to_go(gained, 1.0 if measured else config.discount)
    if config.own_baseline or measured:
      return returns.among_equals(found)
    advantages = self._baseline.advantages(found, index)
    self._baseline.update(found, index)
    return advantages

  def _remember(self, drawn: _Round, place: int, seconds: np.ndarray) -> None:
    """Keeps the best state of a graph's episodes."""
    world = self.world(drawn.worlds[place])
    states = environment.placements(
      *_of_graph(drawn.episodes, place, world)
    )
    if drawn.measured:
      states, seconds = states[:, -1:], seconds[:, -1:]
    best = np.unravel_index(seconds.argmin(), seconds.shape)
    self._last[drawn.worlds[place]] = states[best].copy()


def _of_graph(
  episodes: sampling.Episodes, place: int, world: world_lib.World
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """Start, order and actions of one graph, without padding."""
  groups = world.environment.num_groups
  return tuple(
    values[place, :, :groups].numpy()
    for values in (episodes.start, episodes.order, episodes.actions)
  )
