"""Additive attention scores in pieces that fit into a cache.

  scores[e, q, s] = v · tanh(keys[e, s] + queries[e, q])    (Bahdanau 2015)

All tanh at once are E * Q * S * A numbers, of which TensorFlow's gradient keeps
several copies: gigabytes at the papers' sizes. Here a piece of queries is done
at a time, and the gradient computes its tanh again.

Letters: `E` sequences, `Q` queries, `S` steps of memory, `A` units.
"""

import tensorflow as tf

# Numbers of a piece, at most: 16 MB.
_PIECE = 4 * 1024 * 1024


def scores(
  keys: tf.Tensor, queries: tf.Tensor, weights: tf.Tensor
) -> tf.Tensor:
  """The scores; see the module docstring.

  Args:
    keys: float32 `[E, S, A]`.
    queries: float32 `[E, Q, A]`.
    weights: float32 `[A]`, v.

  Returns:
    float32 `[E, Q, S]`.
  """
  shape = queries.shape[:2] + keys.shape[1:]
  if not shape.is_fully_defined() or shape.num_elements() <= _PIECE:
    return tf.linalg.matvec(_tanh(keys, queries), weights)
  sequences, count, units = queries.shape
  rows = max(1, _PIECE // (keys.shape[1] * units))
  pieces = next(
    n for n in range(1, count + 1) if count % n == 0 and count // n <= rows
  )
  split = tf.reshape(queries, [sequences * pieces, count // pieces, units])
  found = _in_pieces(keys, split, weights)
  return tf.reshape(found, [sequences, count, keys.shape[1]])


def _tanh(keys: tf.Tensor, queries: tf.Tensor) -> tf.Tensor:
  """float32 `[..., Q, S, A]`."""
  return tf.tanh(keys[..., tf.newaxis, :, :] + queries[..., :, tf.newaxis, :])


@tf.custom_gradient
def _in_pieces(keys, queries, weights):
  """Scores `[P, Q, S]` of pieces `[P, Q, A]`; P / E follow each other."""
  pieces, sequences = queries.shape[0], keys.shape[0]
  of_piece = tf.repeat(tf.range(sequences), pieces // sequences)

  def forward(index):
    squashed = _tanh(keys[of_piece[index]], queries[index])
    return tf.linalg.matvec(squashed, weights)

  def gradient(d_scores):
    def backward(index):
      squashed = _tanh(keys[of_piece[index]], queries[index])
      d_score = d_scores[index]
      d_weights = tf.tensordot(d_score, squashed, [[0, 1], [0, 1]])
      slopes = (1 - squashed * squashed) * d_score[..., tf.newaxis]
      return (
        tf.reduce_sum(slopes, axis=0) * weights,
        tf.reduce_sum(slopes, axis=1) * weights,
        d_weights,
      )

    d_keys, d_queries, d_weights = _map(backward, pieces, (tf.float32,) * 3)
    d_keys = tf.reshape(
      d_keys, [sequences, pieces // sequences, *keys.shape[1:]]
    )
    return (
      tf.reduce_sum(d_keys, axis=1),
      tf.reshape(d_queries, queries.shape),
      tf.reduce_sum(d_weights, axis=0),
    )

  found = _map(forward, pieces, tf.float32)
  return tf.ensure_shape(found, [*queries.shape[:2], keys.shape[1]]), gradient


def _map(function, count: int, types):
  return tf.map_fn(
    function, tf.range(count), fn_output_signature=types, parallel_iterations=2
  )
