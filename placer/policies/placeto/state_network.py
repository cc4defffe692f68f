"""StateNetwork: the paper's network (section 2.2, appendix A.7).

At each step the whole graph is embedded, with five features a group: its run
time and the bytes of its outputs, each divided by its largest, its device
(one-hot), whether it was visited and whether it is the current one. Message
passing in two directions, three pooled sets and the current group's own
embedding go into a policy network of two layers with an output a device. All
layers have as many units as there are features.

One checkpoint is of one number of devices, and an episode costs G embeddings
of G groups: O(G^2), as published. What can be saved exactly is saved: nothing
is embedded twice for the gradient, and all states of all episodes of a graph
share its edges in one pass.

Letters: `M` graphs, `B` episodes of each, `G` groups, `D` devices, `T` steps,
`F = D + 4` features.
"""

from typing import NamedTuple

import sonnet as snt
import tensorflow as tf

from placer.policies.learning import masked
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import graph_batch
from placer.policies.placeto import message_passing
from placer.policies.placeto import sampling


class State(NamedTuple):
  """What changes from step to step.

  Attributes:
    placed: float32 `[M, B, G, D]`, the placement, one-hot.
    visited: float32 `[M, B, G]`.
  """

  placed: tf.Tensor
  visited: tf.Tensor


class StateNetwork(snt.Module):
  """The paper's network; see the module docstring.

  Attributes:
    chunk: states of a graph that are embedded at once for the gradient, which
      bounds the memory.
  """

  chunk = 256

  def __init__(
    self, config: config_lib.PlacetoConfig, num_devices: int
  ) -> None:
    """Makes the layers.

    Args:
      config: `rounds`, `message_passing` and `structure` count.
      num_devices: D.
    """
    super().__init__(name='state_network')
    units = num_devices + 4
    self._messages = (
      message_passing.TwoWay(config.rounds, units, mean=False)
      if config.message_passing and config.structure
      else None
    )
    self._pools = message_passing.ThreeSets(units) if config.structure else None
    self._hidden = snt.Linear(units, name='hidden')
    self._logits = snt.Linear(num_devices, name='logits')

  def logits(
    self,
    graphs: graph_batch.GraphBatch,
    features: tf.Tensor,
    node: tf.Tensor,
  ) -> tf.Tensor:
    """Logits of the devices in some states of each graph.

    Args:
      graphs: tensors of M graphs.
      features: float32 `[M, S, G, F]`, S states of each graph.
      node: int32 `[M, S]`, the current groups.

    Returns:
      float32 `[M, S, D]`.
    """
    embedded = features
    if self._messages is not None:
      # Nodes first, so that all states of a graph share its edges.
      shape = tf.shape(features)
      nodes = tf.transpose(features, [0, 2, 1, 3])
      nodes = tf.reshape(nodes, [-1, shape[1], features.shape[3]])
      nodes = self._messages(nodes, graphs.senders, graphs.receivers)
      nodes = tf.reshape(nodes, [shape[0], shape[2], shape[1], nodes.shape[2]])
      embedded = tf.transpose(nodes, [0, 2, 1, 3])
    parts = [tf.gather(embedded, node, batch_dims=2)]
    if self._pools is not None:
      sets = [tf.gather(rows, node, batch_dims=1) for rows in _sets(graphs)]

      def pool(i, values):
        return tf.squeeze(tf.matmul(sets[i][:, :, tf.newaxis], values), 2)

      parts.append(self._pools(embedded, pool))
    units = message_passing.dense(self._hidden, tf.concat(parts, axis=2))
    return message_passing.dense(self._logits, tf.nn.relu(units))

  def begin(self, graphs: graph_batch.GraphBatch, start: tf.Tensor):
    """What stays the same in an episode, and the state before step 0."""
    devices = tf.shape(graphs.cost)[2]
    placed = tf.one_hot(start, devices, dtype=tf.float32)
    return graphs, State(placed, tf.zeros(tf.shape(start)))

  def look(self, memory, state: State, node: tf.Tensor, progress: tf.Tensor):
    """See `sampling.Network`; nothing of a step needs to be kept."""
    del progress
    logits = self.logits(
      memory, _features(memory, state.placed, state.visited, node), node
    )
    allowed = tf.gather(memory.allowed, node, batch_dims=1)
    nothing = tf.zeros(tf.shape(node))
    return masked.log_probs(logits, allowed), nothing, nothing

  def act(self, state: State, node, action, looked, is_step) -> State:
    """See `sampling.Network`."""
    del looked
    groups, devices = tf.unstack(tf.shape(state.placed)[2:])
    is_node = tf.one_hot(node, groups, True, False) & is_step[..., tf.newaxis]
    chosen = tf.one_hot(action, devices, dtype=tf.float32)[:, :, tf.newaxis]
    return State(
      tf.where(is_node[..., tf.newaxis], chosen, state.placed),
      tf.where(is_node, 1.0, state.visited),
    )

  def log_probs(
    self,
    graphs: graph_batch.GraphBatch,
    episodes: sampling.Episodes,
    first: tf.Tensor,
    last: tf.Tensor,
  ) -> tf.Tensor:
    """See `sampling.Network`."""
    placed, visited = _states(graphs, episodes, first, last)
    node = tf.maximum(episodes.order[:, :, first:last], 0)
    shape = tf.shape(node)
    flat = tf.reshape(node, [shape[0], -1])

    def merge(values):
      return tf.reshape(
        values, tf.concat([[shape[0], -1], tf.shape(values)[3:]], 0)
      )

    features = _features(graphs, merge(placed), merge(visited), flat)
    allowed = tf.gather(graphs.allowed, flat, batch_dims=1)
    found = masked.log_probs(self.logits(graphs, features, flat), allowed)
    return tf.reshape(found, tf.concat([shape, [tf.shape(found)[2]]], 0))


def _features(graphs, placed, visited, node) -> tf.Tensor:
  """float32 `[M, S, G, F]`."""
  columns = tf.stack(
    [_of_largest(graphs.seconds), _of_largest(graphs.output_bytes)], axis=2
  )
  columns = tf.broadcast_to(
    columns[:, tf.newaxis],
    tf.concat([tf.shape(visited), [2]], 0),
  )
  current = tf.one_hot(node, tf.shape(visited)[2], dtype=tf.float32)
  flags = tf.stack([visited, current], axis=3)
  features = tf.concat([columns, placed, flags], axis=3)
  features.set_shape([None, None, None, graphs.cost.shape[2] + 4])
  return features


def _of_largest(values: tf.Tensor) -> tf.Tensor:
  return values / tf.maximum(
    tf.reduce_max(values, axis=1, keepdims=True), 1e-12
  )


def _states(graphs, episodes, first, last) -> tuple[tf.Tensor, tf.Tensor]:
  """States of some steps: one-hot `[M, B, S, G, D]`, visited `[M, B, S, G]`."""
  groups, devices = tf.unstack(tf.shape(graphs.cost)[1:])
  # At which step each group is visited; -1 hits no group.
  visits = tf.one_hot(episodes.order, groups, dtype=tf.float32)
  visited = tf.cumsum(visits, axis=2, exclusive=True)[:, :, first:last]
  action = tf.einsum(
    'mbtg,mbtd->mbgd', visits, tf.one_hot(episodes.actions, devices)
  )[:, :, tf.newaxis]
  start = tf.one_hot(episodes.start, devices)[:, :, tf.newaxis]
  is_new = visited[..., tf.newaxis]
  return is_new * action + (1 - is_new) * start, visited


def _sets(graphs: graph_batch.GraphBatch) -> list[tf.Tensor]:
  """Three float32 `[M, G, G]`: ancestors, descendants and what is parallel."""
  pairs = graphs.is_group[:, tf.newaxis] & graphs.is_group[:, :, tf.newaxis]
  own = tf.eye(tf.shape(graphs.cost)[1], dtype=tf.float32) > 0
  parallel = pairs & ~graphs.ancestors & ~graphs.descendants & ~own
  return [
    tf.cast(rows, tf.float32)
    for rows in (graphs.ancestors, graphs.descendants, parallel)
  ]
