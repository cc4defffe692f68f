"""placeto: a graph network that improves a placement group by group.

It starts from the weights that come with placer (`pretrained.json`, trained in
simulation on other graphs) or from a checkpoint of `placer train`. What those
make of the graph as they are ("zero-shot") is suggested first; then it learns
on this graph, in simulation if there are costs, and on from what is measured.
The paper's configuration begins with random weights.
"""

from collections.abc import Sequence

import numpy as np

from placer.core import placement_problem
from placer.policies.learning import learned_policy
from placer.policies.learning import learner as learner_lib
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import guided_search
from placer.policies.placeto import learner
from placer.policies.placeto import weights
from placer.policies.placeto import zero_shot

# What is suggested before any learning.
_ZERO_SHOTS = 4


class Placeto(learned_policy.LearnedPolicy):
  """Improves placements; see the module docstring."""

  name = 'placeto'
  summary = 'Placeto: a pre-trained graph network improves a placement'
  configs = {
    'default': config_lib.PlacetoConfig(),
    'paper': config_lib.paper(),
  }
  supports_many_graphs = True

  @classmethod
  def make_learner(
    cls,
    problems: Sequence[placement_problem.PlacementProblem],
    config: config_lib.PlacetoConfig,
    seed: int,
    reference_seconds: Sequence[float],
  ) -> learner.PlacetoLearner:
    made = learner.PlacetoLearner(problems, config, seed, reference_seconds)
    if config.pretrained:
      weights.assign_pretrained(made.network, config)
    return made

  def first_candidates(self, made: learner_lib.Learner) -> np.ndarray:
    if self._config.network == 'states' and self._checkpoint is None:
      return np.zeros((0, self.problem.num_groups), np.int32)
    found = zero_shot.place(
      made.network,
      self._config,
      self.problem,
      seed=self._seed,
      sample=made.sample,
      config=zero_shot.ZeroShotConfig(
        search=guided_search.of_rounds(self._config.zero_shot_rounds)
      ),
    )
    made.start_from(found[0])
    return found[:_ZERO_SHOTS]

  @property
  def _pretrain_updates(self) -> int:
    # A sample is a placement not yet seen in its batch. A policy that has
    # settled on one makes few, of a small graph above all.
    return self._config.updates
