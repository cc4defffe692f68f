"""Tests for layer_norm."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import layer_norm


class LayerNormTest(absltest.TestCase):
  def test_rows_have_mean_0_and_variance_1(self):
    inputs = np.random.default_rng(0).normal(3.0, 5.0, (4, 64))
    with tf.Graph().as_default() as graph:
      outputs = layer_norm.apply(
        weights_lib.Constants(), 'norm', tf.constant(inputs, tf.float32)
      )
    with tf.compat.v1.Session(graph=graph) as session:
      got = session.run(outputs)
    np.testing.assert_allclose(got.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(got.var(axis=1), 1, rtol=1e-4)


if __name__ == '__main__':
  absltest.main()
