"""Initial weights, drawn from a seed of their own.

Sonnet's initializers draw from TensorFlow's global generator. To make them
repeatable one would have to set its seed, and with it what the caller draws.
"""

import random
from collections.abc import Sequence

import sonnet as snt
import tensorflow as tf

_LARGEST_DRAW = 2**31 - 1


class TruncatedNormal(snt.initializers.Initializer):
  """Normal, cut off at two deviations; each call draws new numbers.

  Equal seeds give equal numbers, call by call: one initializer is for all of
  the variables of a network, which are made in the same order every time.
  """

  def __init__(self, seed: int) -> None:
    """Makes an initializer.

    Args:
      seed: of all its draws.
    """
    self._seed = seed
    self._draws = random.Random(seed)

  def __call__(
    self,
    shape: Sequence[int],
    dtype: tf.DType = tf.float32,
    stddev: float | None = None,
  ) -> tf.Tensor:
    """Draws.

    Args:
      shape: of the variable; its first axis is the inputs of a unit.
      dtype: a float.
      stddev: None for 1 / sqrt(inputs), as Sonnet's layers have it.

    Returns:
      A tensor of that shape.
    """
    if stddev is None:
      stddev = shape[0] ** -0.5
    generator = tf.random.Generator.from_state(
      [0, self._draws.randint(0, _LARGEST_DRAW), self._seed], alg='philox'
    )
    return generator.truncated_normal(shape, stddev=stddev, dtype=dtype)
