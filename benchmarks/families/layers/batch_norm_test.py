"""Tests for batch_norm."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.families.layers import batch_norm
from benchmarks.models import weights as weights_lib


class BatchNormTest(absltest.TestCase):
  def test_matches_numpy(self):
    inputs = np.random.default_rng(0).normal(3.0, 5.0, (4, 6, 6, 2))
    updates = {}
    with tf.Graph().as_default() as graph:
      outputs = batch_norm.apply(
        weights_lib.Constants(),
        updates,
        'cell/norm',
        tf.constant(inputs, tf.float32),
      )
    self.assertStartsWith(outputs.name, 'norm/')
    with tf.compat.v1.Session(graph=graph) as session:
      got, moving = session.run((outputs, updates))
    mean, variance = inputs.mean(axis=(0, 1, 2)), inputs.var(axis=(0, 1, 2))
    want = (inputs - mean) / np.sqrt(variance + batch_norm.EPSILON)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
      moving['cell/norm/moving_mean'], 0.1 * mean, rtol=1e-4
    )
    # The op gives the unbiased variance for the moving average.
    count = inputs[..., 0].size
    np.testing.assert_allclose(
      moving['cell/norm/moving_variance'],
      0.9 + 0.1 * variance * count / (count - 1),
      rtol=1e-4,
    )


if __name__ == '__main__':
  absltest.main()
