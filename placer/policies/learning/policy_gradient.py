"""PolicyGradient: the learner of networks that place a graph in one go.

Letters: `B` placements, `G` groups. What a network is and what it decides:
`placement_network.py`.

One update: REINFORCE or PPO on the advantage of each placement's reward over
the baseline, an entropy bonus, and cross-entropy towards the best placements so
far (`elites.py`), which rewards relative to a mean would forget. The last of
the placements of an update is the likeliest, not a draw: it is what would be
the answer now, and the policy's gradient leaves it out.

Warm start: placements of cheap planners are evaluated, and the network imitates
the fastest until it would make its decisions with `warm_probability`. From
there on it learns what is better. They count as samples.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from placer.core import placement_problem
from placer.policies.learning import baselines
from placer.policies.learning import elites as elites_lib
from placer.policies.learning import learner
from placer.policies.learning import losses
from placer.policies.learning import optimizer
from placer.policies.learning import placement_network
from placer.policies.learning import policy_gradient_config
from placer.policies.learning import rewards
from placer.policies.learning import schedules
from placer.policies.learning import warm_start

_IMITATION_RATE = schedules.Constant(3e-3)
_IMITATION_STEPS = 300


class PolicyGradient(learner.Learner):
  """Learns to place one graph; see the module docstring."""

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    network: placement_network.PlacementNetwork,
    config: policy_gradient_config.PolicyGradientConfig,
    configuration: Mapping[str, Any],
    *,
    seed: int,
    reference_seconds: float,
  ) -> None:
    """Makes a learner.

    Args:
      problem: the graph.
      network: of it, a snt.Module.
      config: how to learn.
      configuration: what checkpoints must agree with.
      seed: of what is drawn.
      reference_seconds: the step on the best single device.
    """
    self.problems = (problem,)
    self.reference_seconds = (reference_seconds,)
    self._network = network
    self._config = config
    self._configuration = dict(configuration)
    self._seed = seed
    variables = tuple(network.trainable_variables)
    self._optimizer, self._imitator = (
      optimizer.Optimizer(variables, rate, config.max_gradient_norm)
      for rate in (config.learning_rate, _IMITATION_RATE)
    )
    self._baseline = _baseline(config)
    self._elites = elites_lib.Elites(config.elites)
    self._sample = tf.function(network.sample)
    self._learn_step = tf.function(self._learn_step)
    self._imitation_step = tf.function(self._imitation_step)

  def propose(self, update: int, *, measured: bool = False) -> learner.Proposal:
    config = self._config
    if update == 0 and not measured:
      warm = warm_start.candidates(
        self.problems[0], config.warm_start, self._seed
      )
      if len(warm):
        return learner.Proposal(0, warm)
    candidates, chosen = self._sample(
      tf.constant([self._seed, update], tf.int32),
      config.measured_samples if measured else config.samples,
      not measured,
    )
    return learner.Proposal(0, candidates.numpy(), (chosen, not measured))

  def learn(
    self, proposal: learner.Proposal, outcomes: rewards.Outcomes
  ) -> Mapping[str, float]:
    found = self._rewards(outcomes)
    if proposal.context is None:
      return self._imitate(proposal.candidates, outcomes, found)
    chosen, has_greedy = proposal.context
    drawn = len(found) - has_greedy
    self._elites.add(
      found, [part.numpy() for part in chosen], outcomes.feasible
    )
    advantages = np.zeros((len(found), 1))
    advantages[:drawn, 0] = self._advantages(
      found[:drawn], outcomes.feasible[:drawn]
    )
    entropy, norm = self._gradient_steps(chosen, advantages)
    return {
      'reward': float(found[:drawn].mean()),
      'baseline': self._baseline_value(),
      'entropy': float(entropy),
      'gradient_norm': float(norm),
    }

  def tell(self, candidates: np.ndarray, outcomes: rewards.Outcomes) -> None:
    # What was simulated may not hold on devices: from here on only they count.
    self._elites = elites_lib.Elites(self._config.elites)
    self._baseline = _baseline(self._config)
    if outcomes.feasible.any():
      self._imitate(candidates, outcomes, self._rewards(outcomes))

  def trackables(self) -> Mapping[str, tf.Module]:
    return {
      'network': self._network,
      'optimizer': self._optimizer,
      'imitator': self._imitator,
    }

  def arrays(self) -> Mapping[str, np.ndarray]:
    return {
      f'{name}/{key}': value
      for name, part in self._parts().items()
      for key, value in part.state().items()
    }

  def set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
    for name, part in self._parts().items():
      start = f'{name}/'
      part.set_state(
        {
          key.removeprefix(start): value
          for key, value in arrays.items()
          if key.startswith(start)
        }
      )

  def configuration(self) -> Mapping[str, Any]:
    return self._configuration

  def _parts(self) -> dict[str, Any]:
    return {'baseline': self._baseline, 'elites': self._elites}

  def _rewards(self, outcomes: rewards.Outcomes) -> np.ndarray:
    reward = {
      'sqrt': rewards.negative_sqrt,
      'relative': rewards.relative_improvement,
    }[self._config.reward]
    return reward(
      outcomes,
      reference_seconds=self.reference_seconds[0],
      cap_ratio=self._config.cap_ratio,
    )

  def _advantages(self, found: np.ndarray, feasible: np.ndarray) -> np.ndarray:
    """float64 `[B]`; the baseline learns, too."""
    config = self._config
    if config.baseline == 'ema':
      advantages = self._baseline.advantages(found)
      self._baseline.update(found)
    else:
      advantages = self._baseline.advantages(found[:, np.newaxis])[:, 0]
      self._baseline.update(found[:, np.newaxis])
    if config.normalise:
      advantages = advantages / (found.std() + 1e-6)
    update = int(self._optimizer.step.numpy()) // config.epochs
    if (
      config.valid_only_after is not None and update >= config.valid_only_after
    ):
      advantages = np.where(feasible, advantages, 0.0)
    return advantages

  def _baseline_value(self) -> float:
    value = self._baseline.value
    return float(value if self._config.baseline == 'ema' else value()[0])

  def _gradient_steps(
    self, chosen: placement_network.Chosen, advantages: np.ndarray
  ) -> tuple[tf.Tensor, tf.Tensor]:
    config = self._config
    update = int(self._optimizer.step.numpy()) // config.epochs
    weights = tf.constant(
      [config.entropy(update), config.elite_weight if len(self._elites) else 0],
      tf.float32,
    )
    elites = tuple(map(tf.constant, self._elites.filled()))
    old = tf.zeros([1, 1])
    for epoch in range(config.epochs):
      self._optimizer.start_update()
      old, entropy, norm = self._learn_step(
        chosen,
        tf.constant(advantages, tf.float32),
        weights,
        elites,
        old,
        tf.constant(epoch == 0),
      )
    return entropy, norm

  def _learn_step(self, chosen, advantages, weights, elites, old, is_first):
    """A step of the gradient; (old log-probabilities, entropy, norm)."""
    config = self._config
    with tf.GradientTape() as tape:
      scores = self._network.score(chosen)
      log_probs, entropies, counts = scores
      old = tf.where(is_first, tf.stop_gradient(log_probs), old)
      if config.algorithm == 'ppo':
        loss = losses.ppo(log_probs, old, advantages, config.clip, counts)
      else:
        loss = losses.reinforce(log_probs, advantages, counts)
      loss += losses.entropy_bonus(entropies, weights[0], counts)
      if elites:
        loss += weights[1] * _cross_entropy(self._network.score(elites))
    norm = self._optimizer.apply(
      tape.gradient(loss, self._optimizer.variables_in_order)
    )
    entropy = tf.reduce_sum(entropies * counts) / tf.reduce_sum(counts)
    return old, entropy, norm

  def _imitate(
    self,
    candidates: np.ndarray,
    outcomes: rewards.Outcomes,
    found: np.ndarray,
  ) -> Mapping[str, float]:
    """Starts from the best of given placements."""
    best = int(np.argmax(found))
    chosen = self._network.explain(candidates[best])
    self._elites.add(
      found[best : best + 1],
      [part.numpy() for part in chosen],
      outcomes.feasible[best : best + 1],
    )
    enough = np.log(self._config.warm_probability)
    for _ in range(_IMITATION_STEPS):
      self._imitator.start_update()
      mean, entropy, norm = self._imitation_step(chosen)
      if float(mean) > enough:
        break
    return {
      'reward': float(found.max()),
      'baseline': float(found.mean()),
      'entropy': float(entropy),
      'gradient_norm': float(norm),
    }

  def _imitation_step(self, chosen):
    """(mean log-probability of a decision, entropy, gradient's norm)."""
    with tf.GradientTape() as tape:
      scores = self._network.score(chosen)
      loss = _cross_entropy(scores)
    norm = self._imitator.apply(
      tape.gradient(loss, self._imitator.variables_in_order)
    )
    total = tf.reduce_sum(scores.counts)
    entropy = tf.reduce_sum(scores.entropies * scores.counts) / total
    mean = tf.reduce_sum(scores.log_probs * scores.counts) / total
    return mean, entropy, norm


def _cross_entropy(scores: placement_network.Scores) -> tf.Tensor:
  return losses.reinforce(scores.log_probs, tf.ones([1, 1]), scores.counts)


def _baseline(config):
  if config.baseline == 'ema':
    return baselines.EmaBaseline(config.ema_decay)
  return baselines.PerStepBaseline(config.window)
