"""Settings of the policy-gradient learner of the sequence policies."""

import dataclasses

from placer.policies.learning import schedules


@dataclasses.dataclass(frozen=True)
class PolicyGradientConfig:
  """Settings of the learner; the papers' values are in `paper()` of policies.

  Attributes:
    samples: B, placements an update.
    measured_samples: B where each is run on devices.
    algorithm: 'reinforce' or 'ppo'.
    epochs: gradient steps an update; more than 1 is for PPO.
    clip: of PPO's ratio.
    baseline: 'ema', of all rewards, or 'per_step', Placeto's: the mean of the
      last `window` placements.
    ema_decay: of 'ema' (grappler's old placer: 0.9).
    window: of 'per_step'.
    normalise: divide advantages by their deviation.
    reward: 'sqrt', -sqrt of the step time, or 'relative' improvement.
    cap_ratio: slower steps count as so many best single devices.
    learning_rate: by gradient step.
    entropy: weight of a decision's mean entropy, by update.
    max_gradient_norm: longer gradients are shortened.
    valid_only_after: from this update on, placements that do not run teach
      nothing (HP: 500, ColocRL: 5,000); None for never.
    elites: best placements that are imitated; 0 for none.
    elite_weight: of their cross-entropy.
    warm_start: policies whose placements it starts from, by default those that
      annealing starts from; () for none.
    warm_probability: of each decision of the placement that it starts from.
  """

  samples: int = 64
  measured_samples: int = 4
  algorithm: str = 'ppo'
  epochs: int = 3
  clip: float = 0.2
  baseline: str = 'ema'
  ema_decay: float = 0.8
  window: int = 128
  normalise: bool = True
  reward: str = 'sqrt'
  cap_ratio: float = 4.0
  learning_rate: schedules.Schedule = schedules.Exponential(3e-3, 1e-3, 400)
  entropy: schedules.Schedule = schedules.Exponential(1e-2, 1e-3, 100)
  max_gradient_norm: float = 1.0
  valid_only_after: int | None = None
  elites: int = 4
  elite_weight: float = 0.5
  warm_start: tuple[str, ...] = (
    'single_device',
    'expert',
    'heft',
    'm_etf',
    'metis',
  )
  warm_probability: float = 0.97

  @classmethod
  def paper(
    cls, *, samples: int, valid_only_after: int
  ) -> 'PolicyGradientConfig':
    """What ColocRL (ICML 2017) and HP (ICLR 2018) have in common.

    Args:
      samples: placements an update.
      valid_only_after: from this update on only those that run teach.
    """
    return cls(
      samples=samples,
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
      valid_only_after=valid_only_after,
      elites=0,
      warm_start=(),
    )
