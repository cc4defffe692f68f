"""Cross entropy of predicted tokens."""

from collections.abc import Sequence

import tensorflow as tf


def apply(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
  """Returns the mean cross entropy in nats.

  Args:
    labels: int32 in [0, classes), of shape `[B]`.
    logits: float32 of shape `[B, classes]`.

  Returns:
    float32 scalar.
  """
  with tf.name_scope('loss'):
    return tf.reduce_mean(
      tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    )


def mean(losses: Sequence[tf.Tensor]) -> tf.Tensor:
  """Returns the mean of the steps' losses, float32 scalars."""
  with tf.name_scope('loss'):
    return tf.add_n(losses) / len(losses)
