"""PlacetoConfig: the settings of Placeto, the paper's and ours."""

import dataclasses

NETWORKS = ('devices', 'states')


@dataclasses.dataclass(frozen=True)
class PlacetoConfig:
  """Settings of the network, of episodes and of training.

  Attributes:
    network: 'states' is the paper's: the whole graph is embedded at each step
      and the head has an output a device, so a checkpoint is of one number of
      devices. 'devices' embeds the graph once a sweep and scores each device
      by what placing the current group there would mean.
    rounds: of message passing (the released code: 8).
    hidden: units of a layer of 'devices'; 'states' has as many as features.
    message_passing: False leaves a group's own features (ablation).
    structure: False leaves out the three pooled sets and all that is known of
      edges (ablation).
    order: of the groups, one of `environment.ORDERS`; 'mixed' draws one for
      each batch.
    restart: how often episodes begin with a new start, not with the best state
      of the last ones of the same graph.
    keep_best: episodes that go on do so from the best state of all so far.
    random_start: the part of new starts that are random; others put all on the
      best single device.
    reward_every: steps from one simulated state to the next; the steps between
      them share a reward, and a batch takes so many times fewer samples. 1 is
      the paper's intermediate reward, 0 its terminal one.
    opening: rounds of each graph before learning from it: their episodes go on
      from each other, some take the likeliest device, and only their last
      states are simulated. Of use with weights that know something.
    warm_start: policies whose best placement the first episodes of the opening,
      and zero-shot ones among others, begin with.
    episodes: of a graph in a batch; all have the same start and order.
    graphs: in a batch, if there are as many (the paper's workers: 4 to 8).
    discount: of rewards to come (the paper: 1).
    own_baseline: returns are compared with the other episodes of the batch and
      divided by their deviation; otherwise with the last `window` episodes.
    window: episodes of a graph in its per-step baseline (released code: 10).
    epochs: updates a batch; more than one makes the loss PPO's.
    clip: of PPO's ratio.
    entropy_first, entropy_last: weight of the entropy bonus, decayed linearly.
    learning_rate_first, learning_rate_last: of Adam, decayed linearly.
    max_gradient_norm: longer gradients are shortened (the released code: 1.25).
    updates: batches that the schedules are for, and the most before the first
      placement is measured.
    seconds_per_gb, most_seconds: penalty and cap of R, None for what suits the
      problem (the paper: 2 and 10).
    measured_episodes: of a batch that is measured on devices.
    zero_shot_rounds: of the search for what is suggested before learning on a
      graph (`guided_search.py`).
    pretrained: start from the weights that come with placer.
    pretrain_samples: placements simulated before the first is measured.
  """

  network: str = 'devices'
  rounds: int = 4
  hidden: int = 32
  message_passing: bool = True
  structure: bool = True
  order: str = 'mixed'
  restart: float = 0.2
  keep_best: bool = True
  random_start: float = 0.3
  reward_every: int = 8
  opening: int = 4
  warm_start: tuple[str, ...] = (
    'single_device',
    'expert',
    'heft',
    'm_etf',
    'metis',
  )
  episodes: int = 8
  graphs: int = 6
  discount: float = 0.97
  own_baseline: bool = True
  window: int = 10
  epochs: int = 3
  clip: float = 0.2
  entropy_first: float = 0.02
  entropy_last: float = 0.001
  learning_rate_first: float = 2e-3
  learning_rate_last: float = 2e-4
  max_gradient_norm: float = 1.25
  updates: int = 400
  seconds_per_gb: float | None = None
  most_seconds: float | None = None
  measured_episodes: int = 4
  zero_shot_rounds: int = 10
  pretrained: bool = True
  pretrain_samples: int = 20_000


def paper() -> PlacetoConfig:
  """What the paper's appendix A.7 and the released code say."""
  return PlacetoConfig(
    network='states',
    rounds=8,
    order='topological',
    restart=1.0,
    keep_best=False,
    random_start=0.0,
    reward_every=1,
    opening=0,
    warm_start=(),
    episodes=8,
    graphs=1,
    discount=1.0,
    own_baseline=False,
    epochs=1,
    entropy_first=0.1,
    entropy_last=0.0,
    learning_rate_first=1e-3,
    learning_rate_last=1e-4,
    seconds_per_gb=2.0,
    most_seconds=10.0,
    pretrained=False,
  )
