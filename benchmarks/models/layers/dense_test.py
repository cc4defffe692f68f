"""Tests for dense."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import dense


class DenseTest(absltest.TestCase):
  def test_matches_numpy(self):
    inputs = np.random.default_rng(0).standard_normal((3, 4), np.float32)
    with tf.Graph().as_default() as graph:
      weights = weights_lib.Constants()
      linear = dense.apply(weights, 'top/dense', tf.constant(inputs), 5)
      relu = dense.apply(
        weights, 'top/dense', tf.constant(inputs), 5, relu=True
      )
    self.assertStartsWith(linear.name, 'dense/')
    with tf.compat.v1.Session(graph=graph) as session:
      kernel = session.run('top/dense/kernel:0')
      got_linear, got_relu = session.run((linear, relu))
    np.testing.assert_allclose(got_linear, inputs @ kernel, rtol=1e-5)
    np.testing.assert_allclose(got_relu, np.maximum(got_linear, 0))


if __name__ == '__main__':
  absltest.main()
