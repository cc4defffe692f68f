"""An LSTM over whole sequences, forwards in one kernel.

Sonnet's `UnrolledLSTM` has the same equations, but inside a tf.function it
chooses its implementation when the graph is optimised, and where that fails a
loop of small ops is left. The gradient here is our own: TensorFlow's kernel
makes the gradient of the weights anew at each step, which takes most of its
time (128 steps of 256 units, one sequence: 0.25 s on a core); here a loop makes
the gradients of the gates, and one product the weights' from all of them.
"""

from typing import NamedTuple

import sonnet as snt
import tensorflow as tf

from placer.policies.learning import initializers


class State(NamedTuple):
  """The state of a sequence: hidden and cell, float32 `[B, H]` each."""

  hidden: tf.Tensor
  cell: tf.Tensor


class BlockLstm(snt.Module):
  """LSTM (Hochreiter and Schmidhuber 1997) without peepholes."""

  def __init__(
    self,
    input_size: int,
    hidden_size: int,
    initializer: initializers.TruncatedNormal,
    name: str | None = None,
  ) -> None:
    """Makes the variables.

    Args:
      input_size: I.
      hidden_size: H.
      initializer: of the weights.
      name: of the module.
    """
    super().__init__(name)
    self.hidden_size = hidden_size
    rows = input_size + hidden_size
    self.weights = tf.Variable(
      initializer([rows, 4 * hidden_size]), name='weights'
    )
    # Gates: input, forget, cell, output; what is remembered at first, stays.
    forget = tf.repeat([0.0, 1.0, 0.0, 0.0], hidden_size)
    self.bias = tf.Variable(forget, name='bias')

  def initial_state(self, batch_size: tf.Tensor | int) -> State:
    """Zeros for `batch_size` sequences."""
    zeros = tf.zeros([batch_size, self.hidden_size])
    return State(zeros, zeros)

  def __call__(
    self, inputs: tf.Tensor, state: State
  ) -> tuple[tf.Tensor, State]:
    """Runs over all steps.

    Args:
      inputs: float32 `[S, B, I]`.
      state: before the first step.

    Returns:
      (hidden states float32 `[S, B, H]`, state after the last step).
    """
    hidden, cells = _lstm(
      inputs,
      state.hidden,
      state.cell,
      tf.convert_to_tensor(self.weights),
      tf.convert_to_tensor(self.bias),
    )
    return hidden, State(hidden[-1], cells[-1])


@tf.custom_gradient
def _lstm(inputs, hidden, cell, weights, bias):
  """Hidden states and cells, float32 `[S, B, H]` each, of all steps."""
  unused = tf.zeros([hidden.shape[-1]])
  found = tf.raw_ops.BlockLSTMV2(
    seq_len_max=tf.cast(tf.shape(inputs)[0], tf.int64),
    x=inputs,
    cs_prev=cell,
    h_prev=hidden,
    w=weights,
    wci=unused,
    wcf=unused,
    wco=unused,
    b=bias,
    use_peephole=False,
  )

  def gradient(d_states, d_cells):
    return _gradients(inputs, hidden, cell, weights, found, d_states, d_cells)

  return (found.h, found.cs), gradient


def _gradients(inputs, hidden, cell, weights, found, d_states, d_cells):
  """Gradients of all arguments of `_lstm`; `found` is what its kernel gave."""
  before = tf.concat([cell[tf.newaxis], found.cs[:-1]], axis=0)
  # What a gradient of the cell, or of the state for the output gate, is
  # multiplied with to be one of the gates before they were squashed.
  slopes = tf.concat(
    [
      found.ci * found.i * (1 - found.i),
      before * found.f * (1 - found.f),
      found.i * (1 - found.ci * found.ci),
      found.co * found.o * (1 - found.o),
    ],
    axis=-1,
  )
  to_cell = found.o * (1 - found.co * found.co)
  size = inputs.shape[-1]
  d_gates, d_hidden, d_cell = _backwards(
    d_states, d_cells, slopes, to_cell, found.f, weights[size:]
  )
  earlier = tf.concat([hidden[tf.newaxis], found.h[:-1]], axis=0)
  rows = tf.reshape(
    tf.concat([inputs, earlier], axis=-1), [-1, weights.shape[0]]
  )
  flat = tf.reshape(d_gates, [-1, weights.shape[1]])
  d_inputs = tf.matmul(flat, weights[:size], transpose_b=True)
  return (
    tf.reshape(d_inputs, tf.shape(inputs)),
    d_hidden,
    d_cell,
    tf.matmul(rows, flat, transpose_a=True),
    tf.reduce_sum(flat, axis=0),
  )


def _backwards(d_states, d_cells, slopes, to_cell, forget, recurrent):
  """Gradients of the gates `[S, B, 4H]`, the first state and the first cell."""
  steps = tf.shape(d_states)[0]
  gates = tf.TensorArray(
    tf.float32, steps, element_shape=slopes.shape[1:], clear_after_read=False
  )

  def step(index, d_state, d_cell, gates):
    d_state += d_states[index]
    d_cell += d_cells[index] + d_state * to_cell[index]
    d_gate = slopes[index] * tf.concat([d_cell] * 3 + [d_state], axis=-1)
    return (
      index - 1,
      tf.matmul(d_gate, recurrent, transpose_b=True),
      d_cell * forget[index],
      gates.write(index, d_gate),
    )

  zeros = tf.zeros_like(d_states[0])
  _, d_state, d_cell, gates = tf.while_loop(
    lambda index, *_: index >= 0,
    step,
    (steps - 1, zeros, zeros, gates),
    parallel_iterations=1,
  )
  return gates.stack(), d_state, d_cell
