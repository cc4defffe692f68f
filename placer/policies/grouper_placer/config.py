"""Settings of grouper_placer."""

import dataclasses

from placer.policies.learning import placer_network
from placer.policies.learning import policy_gradient_config
from placer.policies.learning import schedules


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
  pretrain_samples: int = 2048

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
      placer=placer_network.PlacerSizes(
        input=256,
        hidden=256,
        attention=256,
        additive=True,
        device_embedding=256,
        group_input=0,
        tanh_constant=5.0,
        temperature=10.0,
      ),
      learning=policy_gradient_config.PolicyGradientConfig(
        samples=4,
        algorithm='reinforce',
        epochs=1,
        baseline='ema',
        ema_decay=0.9,
        normalise=False,
        reward='sqrt',
        cap_ratio=100.0,
        learning_rate=schedules.Constant(0.1),
        entropy=schedules.Constant(0.0),
        max_gradient_norm=1.0,
        valid_only_after=500,
        elites=0,
        warm_start=(),
      ),
    )
