"""ReLU, a convolution, batch normalisation: in this order, as in ENAS."""

import tensorflow as tf

from benchmarks.families.layers import batch_norm
from benchmarks.models import weights as weights_lib

_STACKED = 2


def pointwise(
  weights: weights_lib.Weights,
  updates: dict[str, tf.Tensor],
  path: str,
  inputs: tf.Tensor,
  channels: int,
  stride: int = 1,
) -> tf.Tensor:
  """Returns a 1x1 convolution of the inputs.

  Args:
    weights: Source of `<path>/kernel` and of `<path>/norm/...`.
    updates: Gets the new moving averages, by weight name.
    path: Weights' name. Its last part is the scope of the ops.
    inputs: float32 of shape `[B, height, width, C]`.
    channels: Channels of the output.
    stride: 1, or 2 to halve height and width (rounded up).

  Returns:
    float32 of shape `[B, height / stride, width / stride, channels]`.
  """
  width = int(inputs.shape[-1])
  initializer = weights_lib.scaled(width, gain=2.0)
  kernel = weights(f'{path}/kernel', (1, 1, width, channels), initializer)
  with tf.name_scope(path.rsplit('/', 1)[-1]):
    outputs = tf.nn.conv2d(
      tf.nn.relu(inputs), kernel, strides=stride, padding='SAME'
    )
    return batch_norm.apply(weights, updates, f'{path}/norm', outputs)


def separable(
  weights: weights_lib.Weights,
  updates: dict[str, tf.Tensor],
  path: str,
  inputs: tf.Tensor,
  window: int,
  stride: int = 1,
) -> tf.Tensor:
  """Returns two depthwise separable convolutions, one after the other.

  Args:
    weights: Source of `<path>/<i>/depthwise`, `<path>/<i>/pointwise` and
      `<path>/<i>/norm/...` for i of 0 and 1.
    updates: Gets the new moving averages, by weight name.
    path: Weights' name. Its last part is the scope of the ops.
    inputs: float32 of shape `[B, height, width, C]`.
    window: Height and width of the depthwise kernels.
    stride: Of the first one: 1, or 2 to halve height and width (rounded up).

  Returns:
    float32 of shape `[B, height / stride, width / stride, C]`.
  """
  width = int(inputs.shape[-1])
  deep = weights_lib.scaled(window * window)
  wide = weights_lib.scaled(width, gain=2.0)
  with tf.name_scope(path.rsplit('/', 1)[-1]):
    for i in range(_STACKED):
      step = stride if i == 0 else 1
      here = f'{path}/{i}'
      depthwise = weights(f'{here}/depthwise', (window, window, width, 1), deep)
      pointwise_kernel = weights(
        f'{here}/pointwise', (1, 1, width, width), wide
      )
      with tf.name_scope(f'{i}'):
        filtered = tf.nn.depthwise_conv2d(
          tf.nn.relu(inputs), depthwise, [1, step, step, 1], 'SAME'
        )
        mixed = tf.nn.conv2d(
          filtered, pointwise_kernel, strides=1, padding='SAME'
        )
        inputs = batch_norm.apply(weights, updates, f'{here}/norm', mixed)
  return inputs
