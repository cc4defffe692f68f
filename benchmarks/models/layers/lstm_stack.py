"""LSTM layers on top of each other, called one time step at a time.

A recurrent model must not run layer 0 over all steps before layer 1: stacking
the steps' outputs between two layers, as unrolled Keras layers do, lets no two
layers overlap. Here the caller's loop is over time and the loop over depth is
inside, so that layer `k` of step `t` waits only for layer `k - 1` of step `t`
and layer `k` of step `t - 1`:

  states = stack.zero_states(batch_size)
  for t, inputs in enumerate(steps):
    with tf.name_scope(f'step_{t}'):
      outputs, states = stack(inputs, states)

The cell is Hochreiter & Schmidhuber's with a forget gate, as in Zaremba et al.
2014: one matrix product over the concatenation of input and output.
"""

import typing
from collections.abc import Sequence

import tensorflow as tf

from benchmarks.models import weights as weights_lib

FORGET_BIAS = 1.0


class State(typing.NamedTuple):
  """What one layer hands to its next step: float32 `[B, hidden]` each."""

  cell: tf.Tensor
  output: tf.Tensor


class LstmStack:
  """LSTM layers of one width."""

  def __init__(
    self,
    weights: weights_lib.Weights,
    hidden: int,
    layers: int,
    *,
    path: str = '',
    first_residual: int | None = None,
  ):
    """Makes no op.

    Args:
      weights: Source of `<path>layer_<k>/lstm/kernel` and `.../bias`.
      hidden: Width of the outputs and of the cells.
      layers: Their number.
      path: Put before the weights' names; ends with '/' or is empty.
      first_residual: From this layer on, a layer's input is added to its
        output. None for nowhere.
    """
    self._weights = weights
    self._hidden = hidden
    self._layers = layers
    self._path = path
    self._first_residual = layers if first_residual is None else first_residual

  def zero_states(self, batch_size: int) -> list[State]:
    """Returns each layer's state before the first step."""
    states = []
    for k in range(self._layers):
      with tf.name_scope(f'initial_state/layer_{k}'):
        zeros = tf.zeros([batch_size, self._hidden])
      states.append(State(zeros, zeros))
    return states

  def __call__(
    self, inputs: tf.Tensor, states: Sequence[State]
  ) -> tuple[tf.Tensor, list[State]]:
    """Runs all layers for one time step.

    Args:
      inputs: float32 of shape `[B, width]`.
      states: What the step before returned, one a layer.

    Returns:
      The top layer's output, float32 of shape `[B, hidden]`, and the states.
    """
    new_states = []
    for k, state in enumerate(states):
      with tf.name_scope(f'layer_{k}'):
        new_states.append(self._cell(k, inputs, state))
        outputs = new_states[-1].output
        if k >= self._first_residual:
          outputs = tf.add(outputs, inputs, name='residual')
        inputs = outputs
    return inputs, new_states

  def _cell(self, layer: int, inputs: tf.Tensor, state: State) -> State:
    path = f'{self._path}layer_{layer}/lstm'
    width = int(inputs.shape[-1]) + self._hidden
    units = 4 * self._hidden
    initializer = weights_lib.scaled(width)
    kernel = self._weights(f'{path}/kernel', (width, units), initializer)
    bias = self._weights(f'{path}/bias', (units,), weights_lib.ZEROS)
    with tf.name_scope('lstm'):
      joined = tf.concat([inputs, state.output], axis=1)
      gates = tf.nn.bias_add(tf.matmul(joined, kernel), bias)
      enter, change, forget, leave = tf.split(gates, 4, axis=1)
      kept = state.cell * tf.sigmoid(forget + FORGET_BIAS)
      cell = kept + tf.sigmoid(enter) * tf.tanh(change)
      return State(cell, tf.tanh(cell) * tf.sigmoid(leave))
