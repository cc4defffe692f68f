"""Batch normalisation (Ioffe & Szegedy 2015) of images, in training."""

import tensorflow as tf

from benchmarks.models import weights as weights_lib

EPSILON = 1e-5
DECAY = 0.9

_CENTER = 'moving_mean'
_SPREAD = 'moving_variance'


def apply(
  weights: weights_lib.Weights,
  updates: dict[str, tf.Tensor],
  path: str,
  inputs: tf.Tensor,
) -> tf.Tensor:
  """Returns the inputs with mean 0 and variance 1 a channel, then scaled.

  Args:
    weights: Source of `<path>/gamma`, `beta`, `moving_mean` and
      `moving_variance`, all `[channels]`; the last two are not trained.
    updates: Gets the new moving averages, by weight name.
    path: Weights' name. Its last part is the scope of the ops.
    inputs: float32 of shape `[B, height, width, channels]`.

  Returns:
    float32 of the inputs' shape.
  """
  width = (int(inputs.shape[-1]),)
  gamma = weights(f'{path}/gamma', width, weights_lib.ONES)
  beta = weights(f'{path}/beta', width, weights_lib.ZEROS)
  with tf.name_scope(path.rsplit('/', 1)[-1]):
    # The third version has an output without a static shape.
    normalised = tf.raw_ops.FusedBatchNormV2(
      x=inputs,
      scale=gamma,
      offset=beta,
      mean=[],
      variance=[],
      epsilon=EPSILON,
      is_training=True,
    )
    for name, initial, batch in (
      (_CENTER, weights_lib.ZEROS, normalised.batch_mean),
      (_SPREAD, weights_lib.ONES, normalised.batch_variance),
    ):
      moving = weights(f'{path}/{name}', width, initial, trainable=False)
      updates[f'{path}/{name}'] = moving + (1 - DECAY) * (batch - moving)
  return normalised.y
