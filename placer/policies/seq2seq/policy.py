"""seq2seq: ColocRL (Mirhoseini et al., ICML 2017) on fixed groups."""

import dataclasses
from collections.abc import Sequence

from placer.core import placement_problem
from placer.policies.learning import learned_policy
from placer.policies.learning import policy_gradient
from placer.policies.seq2seq import config as config_lib
from placer.policies.seq2seq import features
from placer.policies.seq2seq import network


class Seq2Seq(learned_policy.LearnedPolicy):
  """An attentional sequence-to-sequence policy; see `learned_policy.py`."""

  name = 'seq2seq'
  summary = 'ColocRL: LSTM with attention, learned in simulation, then measured'
  configs = {
    'default': config_lib.Seq2SeqConfig(),
    'paper': config_lib.Seq2SeqConfig.paper(),
  }

  @classmethod
  def make_learner(
    cls,
    problems: Sequence[placement_problem.PlacementProblem],
    config: config_lib.Seq2SeqConfig,
    seed: int,
    reference_seconds: Sequence[float],
  ) -> policy_gradient.PolicyGradient:
    (problem,) = problems
    type_weights, others = features.of_problem(problem)
    return policy_gradient.PolicyGradient(
      problem,
      network.Seq2SeqNetwork(
        type_weights,
        others,
        problem.allowed,
        config.type_embedding,
        config.placer,
        seed,
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
