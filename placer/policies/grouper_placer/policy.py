"""grouper_placer: the hierarchical planner (Mirhoseini et al., ICLR 2018)."""

import dataclasses
from collections.abc import Sequence

from placer.core import placement_problem
from placer.policies.grouper_placer import config as config_lib
from placer.policies.grouper_placer import features
from placer.policies.grouper_placer import network
from placer.policies.grouper_placer import slots
from placer.policies.learning import learned_policy
from placer.policies.learning import policy_gradient


class GrouperPlacer(learned_policy.LearnedPolicy):
  """A learned grouper before the placer; see `learned_policy.py`."""

  name = 'grouper_placer'
  summary = 'HP: learned grouping and placement, in simulation, then measured'
  configs = {
    'default': config_lib.GrouperPlacerConfig(),
    'paper': config_lib.GrouperPlacerConfig.paper(),
  }

  @classmethod
  def make_learner(
    cls,
    problems: Sequence[placement_problem.PlacementProblem],
    config: config_lib.GrouperPlacerConfig,
    seed: int,
    reference_seconds: Sequence[float],
  ) -> policy_gradient.PolicyGradient:
    (problem,) = problems
    found = features.of_problem(problem, config.group_identity)
    coarse = slots.make(problem.allowed, config.coarse_groups)
    return policy_gradient.PolicyGradient(
      problem,
      network.GrouperPlacerNetwork(
        network.Inputs(
          type_counts=found.type_counts,
          amounts=found.amounts,
          adjacency=found.adjacency,
          own=found.own,
          slot_of_class=coarse.slot_of_class,
          legal=coarse.legal,
        ),
        coarse.explain,
        grouper_hidden=config.grouper_hidden,
        grouper_tanh_constant=config.grouper_tanh_constant,
        type_embedding=config.type_embedding,
        placements=config.placements,
        sizes=config.placer,
        seed=seed,
      ),
      config.learning,
      {
        'policy': cls.name,
        'problem': problem.fingerprint,
        'seed': seed,
        'config': dataclasses.asdict(config),
      },
      seed=seed,
      reference_seconds=reference_seconds[0],
    )
