"""A table of vectors, looked up by token."""

import tensorflow as tf

from benchmarks.models import weights as weights_lib


def apply(
  weights: weights_lib.Weights,
  path: str,
  tokens: tf.Tensor,
  vocabulary: int,
  width: int,
) -> tf.Tensor:
  """Returns the rows of the table `path` that the tokens name.

  Args:
    weights: Source of the table, `[vocabulary, width]`.
    path: The table's name. Its last part is the scope of the ops.
    tokens: int32 in [0, vocabulary), of any shape.
    vocabulary: Rows of the table.
    width: Columns of the table.

  Returns:
    float32 of the tokens' shape with `width` appended.
  """
  initializer = weights_lib.Initializer(limit=1.0)
  table = weights(f'{path}/table', (vocabulary, width), initializer)
  with tf.name_scope(path.rsplit('/', 1)[-1]):
    return tf.gather(table, tokens)
