"""Gradient: one step of learning from drawn episodes.

Letters: `M` graphs, `B` episodes of each, `T` steps. Losses are those of
`learning/losses.py`: a sum over steps, a mean over episodes.
"""

import tensorflow as tf

from placer.policies.learning import losses
from placer.policies.learning import masked
from placer.policies.learning import optimizer as optimizer_lib
from placer.policies.placeto import graph_batch
from placer.policies.placeto import sampling


class Gradient:
  """Changes a network by the gradient of its loss."""

  def __init__(
    self,
    network: sampling.Network,
    optimizer: optimizer_lib.Optimizer,
    *,
    clip: float | None,
  ) -> None:
    """Makes the step.

    Args:
      network: what changes.
      optimizer: of its variables.
      clip: of PPO's ratio; None for REINFORCE.
    """
    self._network, self._optimizer, self._clip = network, optimizer, clip
    self._traced = tf.function(self._step, reduce_retracing=True)

  def __call__(
    self,
    graphs: graph_batch.GraphBatch,
    episodes: sampling.Episodes,
    advantages: tf.Tensor,
    entropy_weight: tf.Tensor,
    *,
    traced: bool = True,
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """One update, from chunks of steps whose gradients are summed.

    Args:
      graphs: tensors of M graphs.
      episodes: of `sampling.draw`.
      advantages: float32 `[M, B, T]`.
      entropy_weight: float32 `[]`.
      traced: as a tf.function.

    Returns:
      (mean entropy of a step in nats, norm of the gradient), float32 `[]`.
    """
    step = self._traced if traced else self._step
    return step(graphs, episodes, advantages, entropy_weight)

  def _step(self, graphs, episodes, advantages, entropy_weight):
    variables = self._network.trainable_variables
    count, steps = tf.shape(advantages)[1], tf.shape(advantages)[2]
    size = tf.minimum(tf.maximum(self._network.chunk // count, 1), steps)
    gradients = [tf.zeros_like(variable) for variable in variables]
    entropy, first = tf.constant(0.0), tf.constant(0)
    while first < steps:
      last = tf.minimum(first + size, steps)
      with tf.GradientTape() as tape:
        loss, found = self._loss(
          graphs, episodes, advantages, entropy_weight, first, last
        )
      pieces = tape.gradient(
        loss, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO
      )
      gradients = [
        a + tf.convert_to_tensor(b)
        for a, b in zip(gradients, pieces, strict=True)
      ]
      entropy += found
      first = last
    is_step = tf.cast(episodes.order >= 0, tf.float32)
    return (
      entropy / tf.maximum(tf.reduce_sum(is_step), 1),
      self._optimizer.apply(gradients),
    )

  def _loss(self, graphs, episodes, advantages, weight, first, last):
    """The loss of some steps, and the sum of their entropies."""
    every = self._network.log_probs(graphs, episodes, first, last)

    def flat(values):
      return tf.reshape(values[:, :, first:last], [-1, last - first])

    every = tf.reshape(every, tf.concat([[-1], tf.shape(every)[2:]], 0))
    is_step = flat(episodes.order) >= 0
    log_probs = masked.log_prob_of(every, flat(episodes.actions))
    if self._clip is None:
      loss = losses.reinforce(log_probs, flat(advantages), is_step)
    else:
      loss = losses.ppo(
        log_probs,
        flat(episodes.log_probs),
        flat(advantages),
        self._clip,
        is_step,
      )
    entropies = masked.entropy(every)
    loss += losses.entropy_bonus(entropies, weight, is_step)
    return loss, tf.reduce_sum(entropies * tf.cast(is_step, tf.float32))
