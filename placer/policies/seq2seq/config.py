"""Settings of seq2seq."""

import dataclasses

from placer.policies.learning import placer_network
from placer.policies.learning import policy_gradient_config
from placer.policies.learning import schedules


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
  pretrain_samples: int = 2048

  @classmethod
  def paper(cls) -> 'Seq2SeqConfig':
    """ColocRL (ICML 2017); sizes that it does not give are HP's (ICLR 2018)."""
    return cls(
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
        samples=20,
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
        valid_only_after=5000,
        elites=0,
        warm_start=(),
      ),
    )
