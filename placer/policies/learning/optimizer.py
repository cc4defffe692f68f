"""Adam with a schedule and a limit on the norm of the gradient."""

from collections.abc import Sequence

import sonnet as snt
import tensorflow as tf

from placer.policies.learning import schedules


class Optimizer(tf.Module):
  """Sonnet's Adam behind a clipped gradient.

  It is a tf.Module: a checkpoint of it has the moments and the step.

  Attributes:
    variables_in_order: what `apply` changes.
    step: int64 variable, updates so far; the schedule's argument.
  """

  def __init__(
    self,
    variables: Sequence[tf.Variable],
    learning_rate: schedules.Schedule,
    max_gradient_norm: float,
  ) -> None:
    """Makes an optimizer of fixed variables.

    Args:
      variables: what `apply` changes, in the order of its gradients.
      learning_rate: by update.
      max_gradient_norm: longer gradients are shortened to it.
    """
    super().__init__(name='optimizer')
    self.variables_in_order = tuple(variables)
    self._schedule = learning_rate
    self._max_norm = max_gradient_norm
    self.step = tf.Variable(0, trainable=False, dtype=tf.int64, name='step')
    self._rate = tf.Variable(0.0, trainable=False, name='learning_rate')
    self._adam = snt.optimizers.Adam(self._rate)
    # Made now, so that a checkpoint restored before the first step finds them.
    self._adam._initialize(self.variables_in_order)

  def start_update(self) -> float:
    """Sets the learning rate of the next `apply`; call it from Python.

    Returns:
      The learning rate.
    """
    rate = self._schedule(int(self.step.numpy()))
    self._rate.assign(rate)
    self.step.assign_add(1)
    return rate

  def apply(self, gradients: Sequence[tf.Tensor]) -> tf.Tensor:
    """One step of Adam; may be traced by a tf.function.

    Args:
      gradients: one for each variable, of its shape; None counts as 0.

    Returns:
      float32 `[]`: the gradient's norm before it was shortened.
    """
    filled = [
      tf.zeros_like(variable)
      if gradient is None
      else tf.convert_to_tensor(gradient)
      for gradient, variable in zip(
        gradients, self.variables_in_order, strict=True
      )
    ]
    clipped, norm = tf.clip_by_global_norm(filled, self._max_norm)
    self._adam.apply(clipped, self.variables_in_order)
    return norm
