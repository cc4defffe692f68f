"""Places a graph with a trained network, without training on it.

Some episodes begin with the best placement of cheap planners, some with all on
the best single device or a random placement, each in another order; some take
the likeliest device, some draw. The
best state of all episodes of a kind begins their next sweep. What is suggested
are the best different states of all; how good one is says the simulator, which
sees all states of a sweep in one call a graph.

A problem with more than `MOST_GROUPS` groups is placed with groups joined that
follow each other in topological order, since the features of a group need its
pairs with all others.
"""

import dataclasses
import functools

import numpy as np
import tensorflow as tf

from placer.core import cost_model
from placer.core import placement_problem
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import environment
from placer.policies.placeto import graph_batch
from placer.policies.placeto import sampling
from placer.policies.placeto import weights
from placer.policies.placeto import world as world_lib

MOST_GROUPS = 512
# Above it, one kind of episode and few of them, for the time they take.
_MANY_GROUPS = 256


@dataclasses.dataclass(frozen=True)
class ZeroShotConfig:
  """Settings of placing without training.

  Attributes:
    kinds: (order, start) of each kind of episode; a start is 'single',
      'random' or 'planned', the best of the configuration's `warm_start`.
    temperatures: of the episodes of each kind: 0 takes the likeliest device.
    sweeps: how often each group is visited.
    most: candidates that are suggested.
  """

  kinds: tuple[tuple[str, str], ...] = (
    ('topological', 'planned'),
    ('random', 'planned'),
    ('topological', 'single'),
    ('cost', 'random'),
  )
  temperatures: tuple[float, ...] = (0.0, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0)
  sweeps: int = 4
  most: int = 8


def zero_shot(
  problem: placement_problem.PlacementProblem,
  costs: cost_model.CostModel | None,
  *,
  seed: int = 0,
  config: ZeroShotConfig = ZeroShotConfig(),
) -> np.ndarray:
  """Candidates of the network that comes with placer.

  Args:
    problem: G groups on D devices.
    costs: what to plan on; None for the problem's own, or assumed ones.
    seed: of the draws.
    config: settings.

  Returns:
    int32 `[K, G]`, legal and different, the best in simulation first; K >= 1.
  """
  if costs is not None:
    problem = dataclasses.replace(problem, costs=costs)
  return place(
    weights.pretrained()[0],
    config_lib.PlacetoConfig(),
    problem,
    seed=seed,
    config=config,
    sample=pretrained_sampler(),
  )


def place(
  network: sampling.Network,
  settings: config_lib.PlacetoConfig,
  problem: placement_problem.PlacementProblem,
  *,
  seed: int = 0,
  config: ZeroShotConfig = ZeroShotConfig(),
  sample=None,
) -> np.ndarray:
  """Candidates of a network.

  Args:
    network: trained on problems like this.
    settings: `warm_start`, `seconds_per_gb` and `most_seconds` count.
    problem: G groups on D devices; its `costs` may be None.
    seed: of the draws.
    config: settings.
    sample: `sampling.draw` of the network as a tf.function; None makes one.

  Returns:
    int32 `[K, G]`, legal and different, the best in simulation first; K >= 1.
  """
  if (problem.allowed.sum(axis=1) <= 1).all():
    return problem.allowed.argmax(axis=1).astype(np.int32)[np.newaxis]
  block = _blocks(problem.allowed)
  world = world_lib.World(_joined(problem, block), settings)
  if world.problem.num_groups > _MANY_GROUPS:
    config = dataclasses.replace(
      config,
      kinds=config.kinds[:1],
      temperatures=config.temperatures[:4],
      sweeps=min(config.sweeps, 2),
    )
  traced = world.problem.num_groups >= sampling.WORTH_TRACING
  if sample is None or not traced:
    sample = sampling.sampler(network, traced=traced)
  rng = np.random.default_rng([seed, 3])
  starts = [_start(world, kind, rng) for _, kind in config.kinds]
  states = np.concatenate([np.stack(starts), world.planned])
  seconds = world.objective.seconds(states)
  for _ in range(config.sweeps):
    episodes = _sweep(world, sample, starts, config, rng)
    starts = []
    for start, order, actions in zip(*episodes, strict=True):
      seen = environment.placements(start, order, actions)
      found = np.unique(seen[environment.changes(seen)], axis=0)
      values = world.objective.seconds(found)
      starts.append(found[values.argmin()])
      states = np.concatenate([states, found])
      seconds = np.concatenate([seconds, values])
  return _best(states, seconds, config.most)[:, block]


@functools.cache
def pretrained_sampler():
  """One tf.function for all problems, so that it is traced once or twice."""
  return sampling.sampler(weights.pretrained()[0])


def _start(world, kind: str, rng: np.random.Generator) -> np.ndarray:
  if kind == 'random':
    return world.random(rng)
  return world.best_planned if kind == 'planned' else world.single_device


def _sweep(world, sample, starts, config, rng) -> tuple[np.ndarray, ...]:
  """Start, order and actions `[M, B, …]` of one sweep from M starts."""
  count = len(config.temperatures)
  orders = [
    np.tile(world.environment.orders(order, 1, rng), (count, 1))
    for order, _ in config.kinds
  ]
  batch = graph_batch.stack(
    [world.arrays] * len(starts), [world.start_features(s) for s in starts]
  )
  episodes = sample(
    graph_batch.to_tensors(batch),
    start=tf.constant(
      np.stack([np.tile(start, (count, 1)) for start in starts]), tf.int32
    ),
    order=tf.constant(np.stack(orders)),
    seed=tf.constant(rng.integers(2**31, size=2), tf.int32),
    temperature=tf.constant(config.temperatures, tf.float32),
  )
  return tuple(
    value.numpy()
    for value in (episodes.start, episodes.order, episodes.actions)
  )


def _best(states: np.ndarray, seconds: np.ndarray, most: int) -> np.ndarray:
  """The best different rows."""
  order = np.argsort(seconds, kind='stable')
  rows = states[order]
  _, first = np.unique(rows, axis=0, return_index=True)
  return rows[np.sort(first)[:most]].astype(np.int32)


def _blocks(allowed: np.ndarray) -> np.ndarray:
  """int `[G]`: groups in a row that may use the same devices, joined."""
  groups = len(allowed)
  if groups <= MOST_GROUPS:
    return np.arange(groups)
  _, kind = np.unique(allowed, axis=0, return_inverse=True)
  kinds = int(kind.max()) + 1
  piece = np.arange(groups) * max(MOST_GROUPS // kinds, 1) // groups
  _, first, block = np.unique(
    piece * kinds + kind.reshape(-1), return_index=True, return_inverse=True
  )
  rank = np.empty(len(first), np.int64)
  rank[np.argsort(first)] = np.arange(len(first))
  return rank[block]


def _joined(problem, block: np.ndarray):
  """The problem with blocks as its groups."""
  if len(block) == block.max() + 1:
    return problem
  _, first = np.unique(block, return_index=True)
  return dataclasses.replace(
    problem,
    op_group=block[problem.op_group].astype(np.int32),
    allowed=problem.allowed[first],
    group_names=tuple(problem.group_names[i] for i in first),
    fixed_reasons={},
  )
