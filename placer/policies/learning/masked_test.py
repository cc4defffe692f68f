"""Masked distributions against numpy and TensorFlow Probability."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from tensorflow_probability import distributions as tfd

from placer.policies.learning import masked

_LEGAL = np.array(
  [[True, False, True], [True, True, True], [False, True, False]]
)


def _logits() -> np.ndarray:
  return np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)


class MaskedTest(absltest.TestCase):
  def test_log_probs_are_those_of_the_legal_choices_alone(self):
    logits = _logits()
    found = masked.log_probs(tf.constant(logits), _LEGAL).numpy()
    for row, legal, values in zip(found, _LEGAL, logits):
      kept = np.exp(values[legal].astype(np.float64))
      np.testing.assert_allclose(np.exp(row[legal]), kept / kept.sum(), 1e-5)
      self.assertTrue((row[~legal] == masked.ILLEGAL).all())

  def test_entropy_is_that_of_tensorflow_probability(self):
    logits = tf.constant(_logits())
    found = masked.entropy(masked.log_probs(logits, _LEGAL))
    expected = tfd.Categorical(masked.mask(logits, _LEGAL)).entropy()
    np.testing.assert_allclose(found, expected, atol=1e-6)
    self.assertEqual(float(found[2]), 0.0)  # no choice

  def test_illegal_logits_have_no_gradient(self):
    logits = tf.constant(_logits())
    with tf.GradientTape() as tape:
      tape.watch(logits)
      log_probs = masked.log_probs(logits, _LEGAL)
      loss = tf.reduce_sum(masked.log_prob_of(log_probs, [0, 1, 1]))
      loss += tf.reduce_sum(masked.entropy(log_probs))
    gradient = tape.gradient(loss, logits).numpy()
    self.assertTrue(np.isfinite(gradient).all())
    self.assertFalse(gradient[~_LEGAL].any())

  def test_both_kinds_of_draws_are_legal_and_as_likely_as_said(self):
    logits = tf.constant(_logits())
    probabilities = np.exp(masked.log_probs(logits, _LEGAL))
    count = 4000
    noise = masked.gumbel([count, 3, 3], tf.constant([1, 2]))
    for drawn in (
      masked.sample(logits, _LEGAL, count, tf.constant([1, 2])),
      masked.pick(masked.mask(logits, _LEGAL), noise),
    ):
      self.assertEqual(drawn.dtype, tf.int32)
      shares = np.stack(
        [(drawn.numpy() == choice).mean(axis=0) for choice in range(3)], axis=1
      )
      # Four deviations of a share of 4,000 draws.
      np.testing.assert_allclose(shares, probabilities, atol=0.032)
      self.assertFalse(shares[~_LEGAL].any())

  def test_equal_seeds_draw_the_same(self):
    one, other = (
      masked.sample(tf.zeros([5, 4]), True, 3, tf.constant([7, 1]))
      for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)

  def test_without_noise_the_likeliest_is_picked(self):
    logits = np.array([[1.0, 5.0, 2.0]], np.float32)
    legal = np.array([[True, False, True]])
    self.assertEqual(int(masked.pick(masked.mask(logits, legal), 0.0)[0]), 2)


if __name__ == '__main__':
  absltest.main()
