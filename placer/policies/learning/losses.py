"""Policy-gradient losses as pure functions.

Letters: `B` samples (episodes), `S` decisions of a sample (groups in their
order). Losses are scalars to be minimised: a sum over decisions, a mean over
samples. Advantages are constants; no gradient flows into them.

`mask`, float32 or bool `[B, S]`, broadcast, is 0 for decisions that do not
count (padding, an empty group); None counts all.
"""

import tensorflow as tf


def reinforce(
  log_probs: tf.Tensor,
  advantages: tf.Tensor,
  mask: tf.Tensor | None = None,
) -> tf.Tensor:
  """REINFORCE (Williams 1992): -E[advantage * log probability].

  Args:
    log_probs: float32 `[B, S]`, of what was chosen.
    advantages: float32 `[B, S]`, or `[B, 1]` for one a sample.
    mask: float32 or bool `[B, S]`, or None.

  Returns:
    float32 `[]`.
  """
  return _mean(-tf.stop_gradient(advantages) * log_probs, mask)


def ppo(
  log_probs: tf.Tensor,
  old_log_probs: tf.Tensor,
  advantages: tf.Tensor,
  clip: float = 0.2,
  mask: tf.Tensor | None = None,
) -> tf.Tensor:
  """PPO's clipped surrogate, a ratio for each decision (Schulman et al. 2017).

  Args:
    log_probs: float32 `[B, S]`, of what was chosen, now.
    old_log_probs: float32 `[B, S]`, when it was chosen.
    advantages: float32 `[B, S]`, or `[B, 1]` for one a sample.
    clip: how far a ratio may go from 1 and still be rewarded for it.
    mask: float32 or bool `[B, S]`, or None.

  Returns:
    float32 `[]`.
  """
  advantages = tf.stop_gradient(advantages)
  ratio = tf.exp(log_probs - tf.stop_gradient(old_log_probs))
  clipped = tf.clip_by_value(ratio, 1.0 - clip, 1.0 + clip)
  return _mean(-tf.minimum(ratio * advantages, clipped * advantages), mask)


def entropy_bonus(
  entropies: tf.Tensor, weight: tf.Tensor, mask: tf.Tensor | None = None
) -> tf.Tensor:
  """What to add to a loss so that the policy keeps exploring.

  Args:
    entropies: float32 `[B, S]`, of each decision's distribution, in nats.
    weight: float32 `[]`, not negative.
    mask: float32 or bool `[B, S]`, or None.

  Returns:
    float32 `[]`, -weight times the entropy of a sample.
  """
  return -weight * _mean(entropies, mask)


def _mean(per_decision: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
  if mask is not None:
    per_decision *= tf.cast(mask, per_decision.dtype)
  return tf.reduce_mean(tf.reduce_sum(per_decision, axis=1))
