"""grouper_placer keeps both contracts: of policies and of learned ones."""

from absl.testing import absltest

from placer.policies.grouper_placer import config
from placer.policies.grouper_placer import policy
from placer.policies.learning import placer_network
from placer.policies.learning import policy_gradient_config
from placer.policies.learning import schedules
from placer.testing import learned_policy_contract

_SMALL = config.GrouperPlacerConfig(
  coarse_groups=8,
  grouper_hidden=8,
  type_embedding=4,
  placer=placer_network.PlacerSizes(
    input=16, hidden=16, attention=8, device_embedding=4, group_input=8
  ),
  learning=policy_gradient_config.PolicyGradientConfig(
    # Of 256 placements of two chains, 2 are the best, and those beside them
    # are worse than one device: it has to have seen one before it settles.
    samples=256,
    measured_samples=2,
    epochs=1,
    learning_rate=schedules.Constant(3e-3),
    entropy=schedules.Constant(0.3),
    elites=2,
    elite_weight=0.1,
    warm_start=(),
  ),
  pretrain_samples=8,
)


class GrouperPlacerTest(
  learned_policy_contract.LearnedPolicyContract, absltest.TestCase
):
  kind = policy.GrouperPlacer
  config = _SMALL


if __name__ == '__main__':
  if not learned_policy_contract.run_child(GrouperPlacerTest):
    absltest.main()
