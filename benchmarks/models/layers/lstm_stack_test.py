"""Tests for lstm_stack."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import lstm_stack


def _sigmoid(x):
  return 1 / (1 + np.exp(-x))


def _cell(kernel, inputs, cell, output):
  """One LSTM step in numpy, gates in the order i, g, f, o; no bias."""
  gates = np.concatenate([inputs, output], axis=1) @ kernel
  i, g, f, o = np.split(gates, 4, axis=1)
  cell = _sigmoid(f + 1) * cell + _sigmoid(i) * np.tanh(g)
  return cell, _sigmoid(o) * np.tanh(cell)


class LstmStackTest(absltest.TestCase):
  def test_two_residual_layers_match_numpy(self):
    steps = np.random.default_rng(0).standard_normal((3, 2, 4), np.float32)
    with tf.Graph().as_default() as graph:
      stack = lstm_stack.LstmStack(
        weights_lib.Constants(), 4, 2, path='top/', first_residual=1
      )
      states = stack.zero_states(2)
      for inputs in steps:
        outputs, states = stack(tf.constant(inputs), states)
    with tf.compat.v1.Session(graph=graph) as session:
      kernels = [session.run(f'top/layer_{k}/lstm/kernel:0') for k in range(2)]
      got = session.run(outputs)
    want_states = [(np.zeros((2, 4)), np.zeros((2, 4)))] * 2
    for inputs in steps:
      want_states = list(want_states)
      want_states[0] = _cell(kernels[0], inputs, *want_states[0])
      lower = want_states[0][1]
      want_states[1] = _cell(kernels[1], lower, *want_states[1])
    # float32 against float64 over three steps.
    np.testing.assert_allclose(got, want_states[1][1] + lower, rtol=1e-4)


if __name__ == '__main__':
  absltest.main()
