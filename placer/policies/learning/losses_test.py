"""Losses and their gradients against numpy."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.policies.learning import losses

_RNG = np.random.default_rng(0)
_LOG_PROBS = -_RNG.exponential(size=(4, 3)).astype(np.float32)
_OLD = _LOG_PROBS + _RNG.normal(0, 0.4, size=(4, 3)).astype(np.float32)
_ADVANTAGES = _RNG.normal(size=(4, 1)).astype(np.float32)
_MASK = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1]], np.float32)


class LossesTest(absltest.TestCase):
  def _gradient(self, function):
    """(value, gradient for the log-probabilities) as numpy."""
    log_probs = tf.constant(_LOG_PROBS)
    with tf.GradientTape() as tape:
      tape.watch(log_probs)
      value = function(log_probs)
    return float(value), tape.gradient(value, log_probs).numpy()

  def test_reinforce(self):
    value, gradient = self._gradient(
      lambda log_probs: losses.reinforce(log_probs, _ADVANTAGES, _MASK)
    )
    expected = -(_ADVANTAGES * _LOG_PROBS * _MASK).sum(axis=1).mean()
    self.assertAlmostEqual(value, expected, places=5)
    np.testing.assert_allclose(gradient, -_ADVANTAGES * _MASK / 4, atol=1e-6)

  def test_no_gradient_flows_into_advantages(self):
    advantages = tf.constant(_ADVANTAGES)
    with tf.GradientTape() as tape:
      tape.watch(advantages)
      loss = losses.reinforce(_LOG_PROBS, advantages)
      loss += losses.ppo(_LOG_PROBS, _OLD, advantages)
    self.assertIsNone(tape.gradient(loss, advantages))

  def test_ppo(self):
    value, gradient = self._gradient(
      lambda log_probs: losses.ppo(log_probs, _OLD, _ADVANTAGES, 0.2, _MASK)
    )
    ratio = np.exp(_LOG_PROBS - _OLD)
    clipped = np.clip(ratio, 0.8, 1.2)
    surrogate = np.minimum(ratio * _ADVANTAGES, clipped * _ADVANTAGES)
    self.assertAlmostEqual(
      value, -(surrogate * _MASK).sum(axis=1).mean(), places=5
    )
    # Where the clipped one is the smaller there is no gradient.
    is_free = ratio * _ADVANTAGES <= clipped * _ADVANTAGES
    expected = -ratio * _ADVANTAGES * is_free * _MASK / 4
    np.testing.assert_allclose(gradient, expected, atol=1e-6)
    self.assertFalse(is_free.all())

  def test_at_first_ppo_has_the_gradient_of_reinforce(self):
    _, one = self._gradient(
      lambda log_probs: losses.ppo(log_probs, _LOG_PROBS, _ADVANTAGES)
    )
    _, other = self._gradient(
      lambda log_probs: losses.reinforce(log_probs, _ADVANTAGES)
    )
    np.testing.assert_allclose(one, other, atol=1e-6)

  def test_entropy_bonus(self):
    entropies = -_LOG_PROBS
    found = losses.entropy_bonus(entropies, tf.constant(0.5), _MASK)
    expected = -0.5 * (entropies * _MASK).sum(axis=1).mean()
    self.assertAlmostEqual(float(found), expected, places=5)


if __name__ == '__main__':
  absltest.main()
