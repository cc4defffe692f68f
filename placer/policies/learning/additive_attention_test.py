"""Scores and gradients in pieces are those of all at once, and of numpy."""

from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.policies.learning import additive_attention


class AdditiveAttentionTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    rng = np.random.default_rng(0)
    self.arguments = [
      tf.constant(rng.normal(size=shape), tf.float32)
      for shape in ((2, 5, 3), (2, 6, 3), (3,))
    ]

  def _scores(self):
    with tf.GradientTape() as tape:
      tape.watch(self.arguments)
      found = additive_attention.scores(*self.arguments)
      loss = tf.reduce_sum(found**3)
    return found, tape.gradient(loss, self.arguments)

  def test_is_the_formula(self):
    keys, queries, weights = (value.numpy() for value in self.arguments)
    sums = keys[:, np.newaxis] + queries[:, :, np.newaxis]
    found, _ = self._scores()
    np.testing.assert_allclose(found, np.tanh(sums) @ weights, atol=1e-5)

  def test_pieces_make_no_difference(self):
    whole, whole_gradients = self._scores()
    with mock.patch.object(additive_attention, '_PIECE', 2 * 5 * 3):
      pieces, gradients = self._scores()
    np.testing.assert_allclose(pieces, whole, atol=1e-5)
    for one, other in zip(gradients, whole_gradients, strict=True):
      np.testing.assert_allclose(one, other, atol=1e-4)


if __name__ == '__main__':
  absltest.main()
