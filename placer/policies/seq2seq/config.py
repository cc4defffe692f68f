"""Settings of seq2seq."""

import dataclasses

from placer.policies.learning import placer_network
from placer.policies.learning import policy_gradient_config


@dataclasses.dataclass(frozen=True)
class Seq2SeqConfig:
  """Settings; the defaults are tuned in simulation (benchmarks/results).

  Attributes:
    type_embedding: units of an op type's embedding (HP: 20).
    placer: sizes of the network.
    learning: how it learns.
    pretrain_samples: placements simulated before the first suggestion.
  """

  type_embedding: int = 16
  placer: placer_network.PlacerSizes = placer_network.PlacerSizes()
  learning: policy_gradient_config.PolicyGradientConfig = (
    policy_gradient_config.PolicyGradientConfig()
  )
  pretrain_samples: int = 4096

  @classmethod
  def paper(cls) -> 'Seq2SeqConfig':
    """ColocRL (ICML 2017); sizes that it does not give are HP's (ICLR 2018)."""
    return cls(
      type_embedding=20,
      placer=placer_network.PlacerSizes.paper(),
      learning=policy_gradient_config.PolicyGradientConfig.paper(
        samples=20, valid_only_after=5000
      ),
    )
