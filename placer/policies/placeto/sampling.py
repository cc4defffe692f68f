"""Whole episodes inside one tf.function, and their log-probabilities again.

A network (`device_network.py`, `state_network.py`) knows how to go through an
episode of one sweep:

    memory = network.begin(graphs, start)        # what stays, and the state
    for t in range(T):
      log_probs, seen = network.look(memory, state, order[t], t / T)
      state = network.act(state, order[t], action, seen)

Letters: `M` graphs, `B` episodes of each, `T` steps, `G` groups, `D` devices.

Actions are drawn first, without a gradient. Given the actions, all states are
known, so the gradient comes from one batched pass over all steps
(`network.log_probs`), not through the loop. `order` is padded by -1 where a
graph has fewer groups than another; such steps do nothing.
"""

import functools
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from placer.policies.learning import masked
from placer.policies.placeto import graph_batch

# Tracing takes seconds; with fewer groups, running op by op is quicker.
WORTH_TRACING = 32


class Episodes(NamedTuple):
  """What was drawn.

  Attributes:
    start: int32 `[M, B, G]`.
    order: int32 `[M, B, T]`.
    actions: int32 `[M, B, T]`.
    log_probs: float32 `[M, B, T]`, of the actions; 0 at padded steps.
    seen: float32 `[T, M, B, ...]`, what the network keeps of each step.
    policy: float32 `[M, B, T, D]`, log-probabilities of all devices.
  """

  start: tf.Tensor
  order: tf.Tensor
  actions: tf.Tensor
  log_probs: tf.Tensor
  seen: tf.Tensor
  policy: tf.Tensor


class Network(Protocol):
  """A network that can go through episodes; see the module docstring.

  Attributes:
    chunk: steps times episodes of a graph that a gradient is taken of at once.
  """

  chunk: int

  def begin(
    self, graphs: graph_batch.GraphBatch, start: tf.Tensor
  ) -> tuple[Any, Any]:
    """What stays the same in an episode, and the state before step 0."""

  def look(
    self, memory: Any, state: Any, node: tf.Tensor, progress: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor, Any]:
    """Log-probabilities `[M, B, D]`, what to keep of the step, for `act`."""

  def act(
    self,
    state: Any,
    node: tf.Tensor,
    action: tf.Tensor,
    looked: Any,
    is_step: tf.Tensor,
  ) -> Any:
    """The state after the action."""

  def log_probs(
    self,
    graphs: graph_batch.GraphBatch,
    episodes: Episodes,
    first: tf.Tensor,
    last: tf.Tensor,
  ) -> tf.Tensor:
    """Log-probabilities of all devices at steps first to last - 1.

    float32 `[M, B, last - first, D]`.
    """


def draw(
  network: Network,
  graphs: graph_batch.GraphBatch,
  start: tf.Tensor,
  order: tf.Tensor,
  seed: tf.Tensor,
  temperature: tf.Tensor,
) -> Episodes:
  """Draws episodes; call it inside a tf.function.

  Args:
    network: what decides.
    graphs: tensors of M graphs.
    start: int32 `[M, B, G]`, legal.
    order: int32 `[M, B, T]`, -1 for padding.
    seed: int32 `[2]`; equal seeds give equal episodes.
    temperature: float32 `[B]`, of each episode's draws: 1 draws from the
      policy, 0 takes the likeliest device.

  Returns:
    The Episodes.
  """
  memory, state = network.begin(graphs, start)
  steps = tf.shape(order)[2]
  shape = tf.concat(
    [[steps], tf.shape(start)[:2], tf.shape(graphs.room)[1:]], 0
  )
  noise = masked.gumbel(shape, seed) * temperature[:, tf.newaxis]
  by_step = tf.transpose(order, [2, 0, 1])
  lengths = tf.reduce_sum(tf.cast(order >= 0, tf.float32), axis=2)
  arrays = [
    tf.TensorArray(dtype, size=steps)
    for dtype in (tf.int32, tf.float32, tf.float32, tf.float32)
  ]

  def body(t, state, arrays):
    node = tf.maximum(by_step[t], 0)
    progress = tf.cast(t, tf.float32) / lengths
    log_probs, seen, looked = network.look(memory, state, node, progress)
    action = masked.pick(log_probs, noise[t])
    is_step = by_step[t] >= 0
    chosen = masked.log_prob_of(log_probs, action)
    values = (action, tf.where(is_step, chosen, 0.0), seen, log_probs)
    return (
      t + 1,
      network.act(state, node, action, looked, is_step),
      [a.write(t, v) for a, v in zip(arrays, values, strict=True)],
    )

  _, _, arrays = tf.while_loop(
    lambda t, *_: t < steps,
    body,
    (tf.constant(0), state, arrays),
    parallel_iterations=1,
  )
  actions, chosen, seen, policy = (array.stack() for array in arrays)

  def last(values):
    return tf.transpose(values, [1, 2, 0])

  return Episodes(
    start,
    order,
    last(actions),
    last(chosen),
    seen,
    tf.transpose(policy, [1, 2, 0, 3]),
  )


def sampler(network: Network, *, traced: bool = True):
  """`draw` of a network, as a tf.function if it is to be traced."""
  drawn = functools.partial(draw, network)
  if not traced:
    return drawn
  # Its loops are tf.while_loops; to look for others takes seconds.
  return tf.function(drawn, reduce_retracing=True, autograph=False)


def pad(rows: list[np.ndarray], value: int) -> np.ndarray:
  """int32 `[M, B, T]` from M arrays `[B, T_m]`, filled up with a value."""
  width = max(row.shape[1] for row in rows)
  return np.stack(
    [
      np.pad(row, ((0, 0), (0, width - row.shape[1])), constant_values=value)
      for row in rows
    ]
  ).astype(np.int32)
