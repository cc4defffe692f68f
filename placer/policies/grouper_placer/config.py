"""Settings of grouper_placer."""

import dataclasses

from placer.policies.learning import placer_network
from placer.policies.learning import policy_gradient_config


@dataclasses.dataclass(frozen=True)
class GrouperPlacerConfig:
  """Settings; the defaults are tuned in simulation (benchmarks/results).

  Attributes:
    coarse_groups: what the problem's groups are grouped into at most (HP: 256).
    placements: devices drawn for each grouping (HP: 4).
    grouper_hidden: units of the grouper's hidden layer (HP: 64).
    grouper_tanh_constant: its logits lie in [-C, C]; what is left to explore.
    group_identity: tell groups apart by their number, too. HP's grouper sees
      features only, as it has thousands of ops; a problem has some hundred
      groups, and two that look alike may have to be apart.
    type_embedding: units of an op type's embedding (HP: 20).
    placer: sizes of the placer.
    learning: how both learn.
    pretrain_samples: placements simulated before the first suggestion.
  """

  coarse_groups: int = 32
  placements: int = 1
  grouper_hidden: int = 64
  grouper_tanh_constant: float = 3.75
  group_identity: bool = True
  type_embedding: int = 16
  placer: placer_network.PlacerSizes = placer_network.PlacerSizes()
  learning: policy_gradient_config.PolicyGradientConfig = (
    policy_gradient_config.PolicyGradientConfig()
  )
  pretrain_samples: int = 4096

  @classmethod
  def paper(cls) -> 'GrouperPlacerConfig':
    """HP (ICLR 2018), as far as its text gives values."""
    return cls(
      coarse_groups=256,
      placements=4,
      grouper_hidden=64,
      grouper_tanh_constant=5.0,
      group_identity=False,
      type_embedding=20,
      placer=placer_network.PlacerSizes.paper(),
      learning=policy_gradient_config.PolicyGradientConfig.paper(
        samples=4, valid_only_after=500
      ),
    )
