"""Tests for weights."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from benchmarks.models import weights as weights_lib

NOISE = weights_lib.Initializer(center=2.0, limit=0.5)


def _values(kind, name, initializer):
  """Returns a weight's initial values, from a graph of its own."""
  with tf.Graph().as_default() as graph:
    tensor = kind()(name, (40, 50), initializer)
    init_op = tf.compat.v1.global_variables_initializer()
    with tf.compat.v1.Session(graph=graph) as session:
      session.run(init_op)
      return session.run(tensor)


@parameterized.parameters(weights_lib.Constants, weights_lib.Variables)
class WeightsTest(parameterized.TestCase):
  def test_same_name_gives_the_same_tensor(self, kind):
    with tf.Graph().as_default():
      weights = kind()
      first = weights('layer/kernel', (2, 3), weights_lib.ZEROS)
      self.assertIs(weights('layer/kernel', (2, 3), weights_lib.ZEROS), first)
      self.assertEqual(first.shape, (2, 3))

  def test_names_are_absolute(self, kind):
    with tf.Graph().as_default():
      with tf.name_scope('step_0'):
        tensor = kind()('layer/kernel', (2, 3), weights_lib.ZEROS)
    self.assertStartsWith(tensor.name, 'layer/kernel')

  def test_values_depend_on_the_name_alone(self, kind):
    values = _values(kind, 'a', NOISE)
    np.testing.assert_array_equal(_values(kind, 'a', NOISE), values)
    self.assertFalse(np.allclose(_values(kind, 'b', NOISE), values))

  def test_values_are_uniform(self, kind):
    values = _values(kind, 'a', NOISE)
    self.assertBetween(values.min(), 1.5, 1.51)
    self.assertBetween(values.max(), 2.49, 2.5)
    # Standard error of the mean of 2,000 entries: 0.5 / sqrt(3 * 2000).
    self.assertAlmostEqual(values.mean(), 2.0, delta=4 * 0.5 / 6000**0.5)

  def test_equal_entries(self, kind):
    values = _values(kind, 'a', weights_lib.ONES)
    np.testing.assert_array_equal(values, np.ones((40, 50), np.float32))


class InitializerTest(absltest.TestCase):
  def test_scaled_has_variance_gain_over_fan_in(self):
    limit = weights_lib.scaled(fan_in=50, gain=2.0).limit
    self.assertAlmostEqual(limit**2 / 3, 2.0 / 50)


if __name__ == '__main__':
  absltest.main()
