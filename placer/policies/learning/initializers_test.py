"""Initial weights: their distribution, and whose seed they depend on."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.policies.learning import initializers


class TruncatedNormalTest(absltest.TestCase):
  def test_has_the_deviation_of_the_inputs_or_the_given_one(self):
    draw = initializers.TruncatedNormal(0)
    # Cut off at two deviations, a normal distribution has 0.8796 of its own.
    for values, stddev in (
      (draw([100, 400]).numpy(), 0.1),
      (draw([40000], stddev=3.0).numpy(), 3.0),
    ):
      self.assertLessEqual(np.abs(values).max(), 2 * stddev)
      self.assertAlmostEqual(values.std() / stddev, 0.8796, delta=0.02)
      self.assertAlmostEqual(values.mean() / stddev, 0.0, delta=0.03)

  def test_depends_on_its_seed_only(self):
    def drawn(seed):
      draw = initializers.TruncatedNormal(seed)
      return np.stack([draw([3, 4]), draw([3, 4])])

    tf.random.set_seed(5)
    first = drawn(1)
    tf.random.set_seed(6)
    np.testing.assert_array_equal(drawn(1), first)
    self.assertTrue((drawn(2) != first).all())
    self.assertTrue((first[0] != first[1]).all())

  def test_leaves_the_global_generator_alone(self):
    tf.random.set_seed(5)
    expected = tf.random.uniform([4]).numpy()
    tf.random.set_seed(5)
    initializers.TruncatedNormal(1)([3, 4])
    np.testing.assert_array_equal(tf.random.uniform([4]), expected)


if __name__ == '__main__':
  absltest.main()
