"""Adam by hand, the clipped norm, the schedule, and its checkpoint."""

import os

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.policies.learning import optimizer
from placer.policies.learning import schedules


class OptimizerTest(absltest.TestCase):
  def test_is_adam_on_the_shortened_gradient(self):
    variable = tf.Variable([1.0, 2.0])
    made = optimizer.Optimizer([variable], schedules.Constant(0.1), 1.0)
    moments = np.zeros((2, 2))
    expected = np.array([1.0, 2.0])
    for step, gradient in enumerate(([3.0, 4.0], [0.3, -0.4]), start=1):
      made.start_update()
      norm = made.apply([tf.constant(gradient)])
      self.assertAlmostEqual(float(norm), np.linalg.norm(gradient), places=5)
      used = np.array(gradient) / max(np.linalg.norm(gradient), 1.0)
      moments[0] = 0.9 * moments[0] + 0.1 * used
      moments[1] = 0.999 * moments[1] + 0.001 * used**2
      mean = moments[0] / (1 - 0.9**step)
      deviation = np.sqrt(moments[1] / (1 - 0.999**step))
      expected -= 0.1 * mean / (deviation + 1e-8)
    np.testing.assert_allclose(variable, expected, atol=1e-5)

  def test_follows_the_schedule_and_takes_no_gradient_as_zero(self):
    variables = [tf.Variable(1.0), tf.Variable(1.0)]
    made = optimizer.Optimizer(variables, schedules.Linear(0.2, 0.0, 2), 9.0)
    self.assertEqual([made.start_update() for _ in range(3)], [0.2, 0.1, 0.0])
    made.apply([tf.constant(1.0), None])
    self.assertEqual(float(variables[1]), 1.0)

  def test_a_checkpoint_keeps_the_moments_and_the_step(self):
    def run(steps, made, variable):
      for _ in range(steps):
        made.start_update()
        made.apply([2 * variable])

    def fresh():
      variable = tf.Variable([1.0, -3.0])
      return variable, optimizer.Optimizer(
        [variable], schedules.Exponential(0.1, 0.01, 9), 1.0
      )

    whole, made = fresh()
    run(5, made, whole)
    first, made = fresh()
    run(2, made, first)
    path = os.path.join(self.create_tempdir(), 'x')
    tf.train.Checkpoint(made=made, variable=first).write(path)
    second, made = fresh()
    tf.train.Checkpoint(made=made, variable=second).read(path)
    run(3, made, second)
    np.testing.assert_array_equal(whole, second)


if __name__ == '__main__':
  absltest.main()
