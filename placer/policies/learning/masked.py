"""Categorical distributions over the devices that may be used.

Letters: `D` choices (devices, or groups of a grouper); leading dimensions are
free. `legal` is bool, broadcasts to the logits and has a True in each row; an
illegal choice has probability 0, log-probability `ILLEGAL` and no gradient.
"""

import tensorflow as tf

# Finite, so that no gradient is NaN; exp of it is 0 in float32.
ILLEGAL = -1e9


def mask(logits: tf.Tensor, legal: tf.Tensor) -> tf.Tensor:
  """Logits with `ILLEGAL` where a choice is not legal.

  Args:
    logits: float32 `[..., D]`.
    legal: bool, broadcasts to `[..., D]`.

  Returns:
    float32 `[..., D]`.
  """
  return tf.where(legal, logits, tf.constant(ILLEGAL, logits.dtype))


def log_probs(logits: tf.Tensor, legal: tf.Tensor) -> tf.Tensor:
  """Log-probabilities of all choices.

  Args:
    logits: float32 `[..., D]`.
    legal: bool, broadcasts to `[..., D]`.

  Returns:
    float32 `[..., D]`; `ILLEGAL` where a choice is not legal.
  """
  return mask(tf.nn.log_softmax(mask(logits, legal)), legal)


def log_prob_of(log_probs_all: tf.Tensor, chosen: tf.Tensor) -> tf.Tensor:
  """Log-probabilities of what was chosen.

  Args:
    log_probs_all: float32 `[..., D]`.
    chosen: int32 `[...]`.

  Returns:
    float32 `[...]`.
  """
  depth = tf.shape(log_probs_all)[-1]
  # Products, not a gather: its gradient would be a scatter, which is slow.
  picked = tf.one_hot(chosen, depth, dtype=log_probs_all.dtype)
  return tf.reduce_sum(log_probs_all * picked, axis=-1)


def entropy(log_probs_all: tf.Tensor) -> tf.Tensor:
  """Entropy of each distribution, in nats.

  Args:
    log_probs_all: float32 `[..., D]`, of `log_probs`.

  Returns:
    float32 `[...]`; 0 where there is one choice.
  """
  return -tf.reduce_sum(tf.exp(log_probs_all) * log_probs_all, axis=-1)


def sample(
  logits: tf.Tensor, legal: tf.Tensor, count: int, seed: tf.Tensor
) -> tf.Tensor:
  """Draws choices from each distribution.

  Args:
    logits: float32 `[..., D]`.
    legal: bool, broadcasts to `[..., D]`.
    count: draws of each.
    seed: int32 `[2]`; equal seeds give equal draws.

  Returns:
    int32 `[count, ...]`, legal.
  """
  # It takes seconds to import; those that draw step by step do without.
  from tensorflow_probability import distributions as tfd

  return tfd.Categorical(logits=mask(logits, legal)).sample(count, seed=seed)


def gumbel(shape: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
  """Noise whose argmax with logits is a draw from their softmax.

  Args:
    shape: int32 `[rank]`.
    seed: int32 `[2]`.

  Returns:
    float32 of that shape.
  """
  uniform = tf.random.stateless_uniform(shape, seed, minval=1e-20)
  return -tf.math.log(-tf.math.log(uniform))


def pick(masked_logits: tf.Tensor, noise: tf.Tensor) -> tf.Tensor:
  """The choice that logits and noise come to; noise 0 gives the likeliest.

  Args:
    masked_logits: float32 `[..., D]`, of `mask`.
    noise: float32 `[..., D]`, of `gumbel`, or 0.

  Returns:
    int32 `[...]`, legal.
  """
  return tf.argmax(masked_logits + noise, axis=-1, output_type=tf.int32)
