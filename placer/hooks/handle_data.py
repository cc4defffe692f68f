"""Handle data: what TensorFlow knows of the variable or list behind a handle.

It lives beside a graph and not in its proto. What an import cannot infer again
are the outputs of loops: each is the handle that went in at the same place.
Gradients of higher order need them.
"""

from collections.abc import Iterable

import tensorflow as tf
from tensorflow.python.ops import handle_data_util

_LOOPS = frozenset(('While', 'StatelessWhile'))
_HANDLES = (tf.resource, tf.variant)


def restore(operations: Iterable[tf.Operation]) -> None:
  """Gives the outputs of imported loops their handle data.

  Args:
    operations: imported ops, in topological order.
  """
  for operation in operations:
    if operation.type in _LOOPS:
      for given, made in zip(operation.inputs, operation.outputs):
        if made.dtype in _HANDLES:
          handle_data_util.copy_handle_data(given, made)
