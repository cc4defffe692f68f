"""Where a model's weights come from: variables, or constants.

A model asks for a weight by name and gets a float32 tensor; it does not know
which of the two it got, so that one forward pass serves both modes:

  kernel = weights('layer_2/lstm/kernel', (2048, 4096), initializer)

`Variables` (training) makes a resource variable whose initialiser is a few
small ops; `Constants` (inference) makes a `Const` with the values in it. In
both, asking twice for one name gives the same tensor, so a weight that every
unrolled step uses is one node, sent once to each device that needs it.

Names are absolute, whatever name scope the caller is in. Values depend on the
name, the shape and the initialiser alone, so they are the same at each build
and run. (They differ between the modes: numpy's generator here, TensorFlow's
stateless ones there.)
"""

import dataclasses
import math
import zlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class Initializer:
  """Initial values: `center` plus uniform noise in [-limit, limit).

  Attributes:
    center: Mean of the entries.
    limit: Half the width; 0 makes all entries equal to `center`.
  """

  center: float = 0.0
  limit: float = 0.0


ZEROS = Initializer()
ONES = Initializer(center=1.0)


def scaled(fan_in: int, gain: float = 1.0) -> Initializer:
  """Returns noise with variance gain / fan_in.

  It keeps the variance of the signal from layer to layer: gain 1 for linear,
  sigmoid and tanh layers (Glorot & Bengio 2010), 2 for ReLU (He et al. 2015).

  Args:
    fan_in: Inputs that one output adds up.
    gain: Variance times fan_in.
  """
  return Initializer(limit=math.sqrt(3.0 * gain / fan_in))


class Weights(Protocol):
  """What a model sees of its weights."""

  def __call__(
    self,
    name: str,
    shape: Sequence[int],
    initializer: Initializer,
    trainable: bool = True,
  ) -> tf.Tensor:
    """Returns the weight, which it makes at the first call for the name.

    Args:
      name: Absolute name, such as 'layer_2/lstm/kernel'.
      shape: The weight's shape.
      initializer: Its values before the first step.
      trainable: Whether the optimizer changes it.

    Returns:
      float32 tensor of the given shape.
    """


class Constants:
  """Weights as `Const` nodes, for inference."""

  def __init__(self):
    self._tensors = {}

  def __call__(
    self,
    name: str,
    shape: Sequence[int],
    initializer: Initializer,
    trainable: bool = True,
  ) -> tf.Tensor:
    """See `Weights`."""
    del trainable  # A constant is not.
    if name not in self._tensors:
      values = np.full(shape, initializer.center, np.float32)
      if initializer.limit:
        generator = np.random.default_rng(_seed(name))
        noise = generator.random(shape, np.float32)
        values += np.float32(initializer.limit) * (2 * noise - 1)
      with _root():
        self._tensors[name] = tf.constant(values, name=name)
    return self._tensors[name]


class Variables:
  """Weights as resource variables, for training.

  Attributes:
    variables: All of them by name, in the order in which they were made.
  """

  def __init__(self):
    self.variables: dict[str, tf.compat.v1.Variable] = {}

  def __call__(
    self,
    name: str,
    shape: Sequence[int],
    initializer: Initializer,
    trainable: bool = True,
  ) -> tf.Tensor:
    """See `Weights`. The tensor is the variable's one ReadVariableOp."""
    if name not in self.variables:
      with _root():
        variable = tf.compat.v1.Variable(
          lambda: _initial_values(name, shape, initializer),
          name=name,
          trainable=trainable,
          use_resource=True,
        )
      self.variables[name] = variable
    return snapshot(self.variables[name])


def snapshot(variable: tf.compat.v1.Variable) -> tf.Tensor:
  """Returns the ReadVariableOp that was made with the variable."""
  return variable.graph.get_tensor_by_name(variable.to_proto().snapshot_name)


def _initial_values(
  name: str, shape: Sequence[int], initializer: Initializer
) -> tf.Tensor:
  """Returns ops that compute the initial values; none holds the values."""
  if not initializer.limit:
    return tf.fill(shape, np.float32(initializer.center))
  # The first version of the op: its values are the same on every device.
  noise = tf.raw_ops.StatelessRandomUniform(
    shape=tf.constant(list(shape), tf.int32), seed=[_seed(name), 0]
  )
  low = initializer.center - initializer.limit
  return noise * (2.0 * initializer.limit) + low


def _seed(name: str) -> int:
  return zlib.crc32(name.encode())


def _root():
  """Returns a context in which names are absolute."""
  return tf.compat.v1.get_default_graph().name_scope(None)
