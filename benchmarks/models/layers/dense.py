"""A fully connected layer."""

import tensorflow as tf

from benchmarks.models import weights as weights_lib


def apply(
  weights: weights_lib.Weights,
  path: str,
  inputs: tf.Tensor,
  units: int,
  *,
  relu: bool = False,
) -> tf.Tensor:
  """Returns `inputs @ kernel + bias`, through a ReLU if asked.

  Args:
    weights: Source of `<path>/kernel`, `[inputs, units]`, and `<path>/bias`.
    path: Weights' name. Its last part is the scope of the ops.
    inputs: float32 of shape `[B, inputs]`.
    units: Width of the output.
    relu: Whether a ReLU follows.

  Returns:
    float32 of shape `[B, units]`.
  """
  width = int(inputs.shape[-1])
  initializer = weights_lib.scaled(width, gain=2.0 if relu else 1.0)
  kernel = weights(f'{path}/kernel', (width, units), initializer)
  bias = weights(f'{path}/bias', (units,), weights_lib.ZEROS)
  with tf.name_scope(path.rsplit('/', 1)[-1]):
    outputs = tf.nn.bias_add(tf.matmul(inputs, kernel), bias)
    return tf.nn.relu(outputs) if relu else outputs
