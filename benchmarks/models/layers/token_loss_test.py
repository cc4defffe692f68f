"""Tests for token_loss."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.models.layers import token_loss


class TokenLossTest(absltest.TestCase):
  def test_equal_logits_cost_the_log_of_the_classes(self):
    loss = token_loss.apply(tf.constant([0, 3]), tf.zeros([2, 4]))
    self.assertAlmostEqual(float(loss), np.log(4), places=6)

  def test_mean(self):
    mean = token_loss.mean([tf.constant(1.0), tf.constant(4.0)])
    self.assertEqual(float(mean), 2.5)


if __name__ == '__main__':
  absltest.main()
