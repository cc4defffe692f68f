"""Places a graph with a trained network, without training on it.

A search that the network guides (`guided_search.py`) begins with all on the
best single device, with random placements and, if wanted, with what cheap
planners make. What is suggested are the best different states of all; how good
one is says the simulator.

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
from placer.policies.learning import learned_policy
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import guided_search
from placer.policies.placeto import sampling
from placer.policies.placeto import weights
from placer.policies.placeto import world as world_lib

MOST_GROUPS = 512
# Above the first there are fewer leaders, above the second fewer rounds, too.
_FEW_GROUPS, _MANY_GROUPS = 128, 256


@dataclasses.dataclass(frozen=True)
class ZeroShotConfig:
  """Settings of placing without training.

  Attributes:
    warm_start: whether `zero_shot` also begins with what cheap planners make.
    random_starts: random placements that the search begins with, too.
    most: candidates that are suggested.
    search: the rest.
  """

  warm_start: bool = True
  random_starts: int = 8
  most: int = 8
  search: guided_search.GuidedSearchConfig = guided_search.GuidedSearchConfig()


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
  settings = config_lib.PlacetoConfig()
  if not config.warm_start:
    settings = dataclasses.replace(settings, warm_start=())
  learned_policy.leave_gpus_alone()
  # Callers may be in the middle of a graph of their own.
  with tf.init_scope(), tf.device('/CPU:0'):
    return place(
      weights.pretrained()[0],
      settings,
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
  watch: guided_search.Watch | None = None,
) -> np.ndarray:
  """Candidates of a network.

  Args:
    network: trained on problems like this.
    settings: `warm_start`, `seconds_per_gb` and `most_seconds` count.
    problem: G groups on D devices; its `costs` may be None.
    seed: of the draws.
    config: settings.
    sample: `sampling.draw` of the network as a tf.function; None makes one.
    watch: called with all placements int32 `[B, G]` that are simulated
      together, and their seconds.

  Returns:
    int32 `[K, G]`, legal and different, the best in simulation first; K >= 1.
  """
  if (problem.allowed.sum(axis=1) <= 1).all():
    return problem.allowed.argmax(axis=1).astype(np.int32)[np.newaxis]
  block = _blocks(problem.allowed)
  world = world_lib.World(_joined(problem, block), settings)
  groups = world.problem.num_groups
  search = _for_size(config.search, groups)
  traced = groups >= sampling.WORTH_TRACING
  if sample is None or not traced:
    sample = sampling.sampler(network, traced=traced)
  rng = np.random.default_rng([seed, 3])
  starts = np.stack(
    [
      *world.planned,
      world.single_device,
      *(world.random(rng) for _ in range(config.random_starts)),
    ]
  )
  seen = None
  if watch is not None:

    def seen(rows: np.ndarray, seconds: np.ndarray) -> None:
      watch(rows[:, block], seconds)

  found = guided_search.GuidedSearch(world, sample, rng, search, seen)
  return found.run(starts, config.most)[:, block]


@functools.cache
def pretrained_sampler():
  """One tf.function for all problems, so that it is traced once or twice."""
  return sampling.sampler(weights.pretrained()[0])


def _for_size(
  search: guided_search.GuidedSearchConfig, groups: int
) -> guided_search.GuidedSearchConfig:
  """Fewer leaders and rounds where a sweep takes long."""
  leaders = round(search.leaders * min(_FEW_GROUPS / groups, 1.0))
  search = dataclasses.replace(search, leaders=max(leaders, 1))
  if groups <= _MANY_GROUPS:
    return search
  return dataclasses.replace(
    search,
    coarse=_shorter(search.coarse),
    fine=_shorter(search.fine),
  )


def _shorter(stage: guided_search.Stage) -> guided_search.Stage:
  return dataclasses.replace(
    stage, rounds=-(-stage.rounds // 2), moves=4 * stage.moves
  )


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
