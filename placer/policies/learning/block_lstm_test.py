"""The LSTM against numpy: values, and gradients by finite differences."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.policies.learning import block_lstm
from placer.policies.learning import initializers


def _sigmoid(values):
  return 1 / (1 + np.exp(-values))


def _by_hand(inputs, hidden, cell, weights, bias):
  """Hidden states and the last cell, one step after the other."""
  states = []
  for step in inputs:
    gates = np.concatenate([step, hidden], axis=-1) @ weights + bias
    take, keep, new, out = np.split(gates, 4, axis=-1)
    cell = _sigmoid(keep) * cell + _sigmoid(take) * np.tanh(new)
    hidden = _sigmoid(out) * np.tanh(cell)
    states.append(hidden)
  return np.stack(states), cell


class BlockLstmTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    rng = np.random.default_rng(0)
    self.lstm = block_lstm.BlockLstm(3, 4, initializers.TruncatedNormal(0))
    self.inputs = rng.normal(size=(5, 2, 3)).astype(np.float32)
    self.hidden, self.cell = rng.normal(size=(2, 2, 4)).astype(np.float32)

  def test_is_an_lstm(self):
    states, last = self.lstm(
      tf.constant(self.inputs), block_lstm.State(self.hidden, self.cell)
    )
    expected, cell = _by_hand(
      self.inputs,
      self.hidden,
      self.cell,
      self.lstm.weights.numpy(),
      self.lstm.bias.numpy(),
    )
    # float32, five steps.
    np.testing.assert_allclose(states, expected, atol=1e-5)
    np.testing.assert_allclose(last.hidden, expected[-1], atol=1e-5)
    np.testing.assert_allclose(last.cell, cell, atol=1e-5)

  def test_gradients_are_those_of_finite_differences(self):
    weigh = np.random.default_rng(1).normal(size=(5, 2, 4))
    arguments = [
      value.astype(np.float64)
      for value in (
        self.inputs,
        self.hidden,
        self.cell,
        self.lstm.weights.numpy(),
        self.lstm.bias.numpy(),
      )
    ]

    def loss(values):
      states, cell = _by_hand(*values)
      return (states * weigh).sum() + (cell**2).sum()

    inputs, hidden, cell = map(
      tf.constant, (self.inputs, self.hidden, self.cell)
    )
    with tf.GradientTape() as tape:
      tape.watch([inputs, hidden, cell])
      states, last = self.lstm(inputs, block_lstm.State(hidden, cell))
      total = tf.reduce_sum(states * tf.constant(weigh, tf.float32))
      total += tf.reduce_sum(last.cell**2)
    gradients = tape.gradient(
      total, [inputs, hidden, cell, self.lstm.weights, self.lstm.bias]
    )
    for which, gradient in enumerate(gradients):
      for index in np.ndindex(*arguments[which].shape):
        ends = []
        for change in (1e-5, -1e-5):
          moved = [value.copy() for value in arguments]
          moved[which][index] += change
          ends.append(loss(moved))
        expected = (ends[0] - ends[1]) / 2e-5
        self.assertAlmostEqual(
          float(gradient[index]), expected, delta=1e-3, msg=f'{which} {index}'
        )

  def test_a_loop_of_steps_is_the_whole(self):
    state = block_lstm.State(tf.constant(self.hidden), tf.constant(self.cell))
    whole, _ = self.lstm(tf.constant(self.inputs), state)
    for step, expected in zip(self.inputs, whole):
      states, state = self.lstm(tf.constant(step[np.newaxis]), state)
      np.testing.assert_allclose(states[0], expected, atol=1e-6)


if __name__ == '__main__':
  absltest.main()
