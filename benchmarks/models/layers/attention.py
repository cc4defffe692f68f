"""Attention of one decoder step over an encoder's outputs (Luong et al. 2015).

"General" score: `query . (memory @ kernel)`. The product with the kernel is
done once for all steps.
"""

import typing
from collections.abc import Sequence

import tensorflow as tf

from benchmarks.models import weights as weights_lib


class Memory(typing.NamedTuple):
  """What is attended to: float32 of shape `[B, steps, hidden]` each."""

  keys: tf.Tensor
  values: tf.Tensor


def memory(
  weights: weights_lib.Weights, path: str, outputs: Sequence[tf.Tensor]
) -> Memory:
  """Returns the memory of an encoder's outputs.

  Args:
    weights: Source of `<path>/kernel`, `[hidden, hidden]`.
    path: Weights' name. Its last part is the scope of the ops.
    outputs: The steps' outputs, float32 of shape `[B, hidden]` each.
  """
  batch_size, hidden = map(int, outputs[0].shape)
  initializer = weights_lib.scaled(hidden)
  kernel = weights(f'{path}/kernel', (hidden, hidden), initializer)
  with tf.name_scope(path.rsplit('/', 1)[-1]):
    values = tf.stack(outputs, axis=1)
    keys = tf.matmul(tf.reshape(values, [-1, hidden]), kernel)
    return Memory(tf.reshape(keys, [batch_size, -1, hidden]), values)


def apply(
  weights: weights_lib.Weights, path: str, query: tf.Tensor, over: Memory
) -> tf.Tensor:
  """Returns the query joined with what it attends to.

  Args:
    weights: Source of `<path>/kernel`, `[2 * hidden, hidden]`.
    path: Weights' name. Its last part is the scope of the ops.
    query: float32 of shape `[B, hidden]`.
    over: The memory, as wide as the query.

  Returns:
    float32 of shape `[B, hidden]`, in (-1, 1).
  """
  hidden = int(query.shape[-1])
  initializer = weights_lib.scaled(2 * hidden)
  kernel = weights(f'{path}/kernel', (2 * hidden, hidden), initializer)
  with tf.name_scope(path.rsplit('/', 1)[-1]):
    column = tf.expand_dims(query, 2)
    scores = tf.squeeze(tf.matmul(over.keys, column), 2)
    row = tf.expand_dims(tf.nn.softmax(scores), 1)
    context = tf.squeeze(tf.matmul(row, over.values), 1)
    joined = tf.concat([query, context], axis=1)
    return tf.tanh(tf.matmul(joined, kernel))
