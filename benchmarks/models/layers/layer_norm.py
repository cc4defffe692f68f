"""Layer normalisation (Ba, Kiros & Hinton 2016)."""

import tensorflow as tf

from benchmarks.models import weights as weights_lib

EPSILON = 1e-5


def apply(
  weights: weights_lib.Weights, path: str, inputs: tf.Tensor
) -> tf.Tensor:
  """Returns the inputs with mean 0 and variance 1 in each row, then scaled.

  Args:
    weights: Source of `<path>/gamma` and `<path>/beta`, both `[width]`.
    path: Weights' name. Its last part is the scope of the ops.
    inputs: float32 of shape `[..., width]`.

  Returns:
    float32 of the inputs' shape.
  """
  width = (int(inputs.shape[-1]),)
  gamma = weights(f'{path}/gamma', width, weights_lib.ONES)
  beta = weights(f'{path}/beta', width, weights_lib.ZEROS)
  with tf.name_scope(path.rsplit('/', 1)[-1]):
    mean, variance = tf.nn.moments(inputs, axes=[-1], keepdims=True)
    return tf.nn.batch_normalization(
      inputs, mean, variance, beta, gamma, EPSILON
    )
