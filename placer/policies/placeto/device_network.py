"""DeviceNetwork: our default. Embeds a graph once a sweep, scores each device.

Three departures from the paper's network (`state_network.py`):

* the state of the placement enters through the features of each device
  (`device_features.py`) and, as it was when the sweep began, through
  `GraphBatch.start`. So the graph is embedded once a sweep instead of at each
  step, and an episode costs O(G) small products instead of G embeddings;
* a device is scored by a network that all devices share, which also sees the
  mean over the devices. So one checkpoint serves any number and kind of them;
* sums over neighbours and sets are means, since graphs differ in size.

Letters as in `device_features.py`, `H` hidden units, `T` steps.
"""

import sonnet as snt
import tensorflow as tf

from placer.policies.learning import masked
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import device_features
from placer.policies.placeto import graph_batch
from placer.policies.placeto import message_passing
from placer.policies.placeto import sampling


class DeviceNetwork(snt.Module):
  """Scores devices; see the module docstring.

  Attributes:
    chunk: steps of a graph's episodes that a gradient is taken of at once.
  """

  chunk = 2**14

  def __init__(self, config: config_lib.PlacetoConfig) -> None:
    """Makes the layers.

    Args:
      config: `rounds`, `hidden`, `message_passing` and `structure` count.
    """
    super().__init__(name='device_network')
    hidden = config.hidden
    self._structure = config.structure
    self._input = snt.Linear(hidden, name='input')
    self._messages = (
      message_passing.TwoWay(config.rounds, hidden, mean=True)
      if config.message_passing and config.structure
      else None
    )
    self._pools = (
      message_passing.ThreeSets(hidden) if config.structure else None
    )
    self._context = snt.Linear(hidden, name='context')
    self._device = snt.Linear(hidden, name='device')
    self._mixed = snt.Linear(hidden, name='mixed')
    self._others = snt.Linear(hidden, with_bias=False, name='others')
    self._score = snt.Linear(1, name='score')

  def encode(self, graphs: graph_batch.GraphBatch) -> tf.Tensor:
    """Embeds groups in a placement.

    Args:
      graphs: tensors.

    Returns:
      float32 `[M, G, H]`.
    """
    raw = tf.concat([graphs.nodes, graphs.start], axis=2)
    nodes = tf.nn.relu(message_passing.dense(self._input, raw))
    if self._messages is not None:
      shape = tf.shape(nodes)
      flat = tf.reshape(nodes, [-1, nodes.shape[2]])
      passed = self._messages(
        flat, graphs.senders, graphs.receivers, graphs.edges
      )
      passed = tf.reshape(passed, [shape[0], shape[1], passed.shape[1]])
      nodes = tf.concat([nodes, passed], axis=2)
    if self._pools is not None:
      sets = _sets(graphs)
      pooled = self._pools(nodes, lambda i, values: tf.matmul(sets[i], values))
      nodes = tf.concat([nodes, pooled], axis=2)
    return message_passing.dense(self._context, nodes)

  def begin(self, graphs: graph_batch.GraphBatch, start: tf.Tensor):
    """What stays the same in an episode, and the state before step 0."""
    memory = (device_features.static(graphs), self.encode(graphs))
    return memory, device_features.begin(graphs, start)

  def look(self, memory, state, node: tf.Tensor, progress: tf.Tensor):
    """See `sampling.Network`; keeps the features."""
    fixed, context = memory
    graphs = fixed.graphs
    seen, end = device_features.features(fixed, state, node, progress)
    log_probs = self.scores(
      tf.gather(context, node, batch_dims=1),
      seen,
      tf.gather(graphs.allowed, node, batch_dims=1),
      graphs.is_device[:, tf.newaxis],
    )
    return log_probs, seen, end

  def act(self, state, node, action, looked, is_step):
    """See `sampling.Network`."""
    return device_features.advance(state, node, action, looked, is_step)

  def log_probs(
    self,
    graphs: graph_batch.GraphBatch,
    episodes: sampling.Episodes,
    first: tf.Tensor,
    last: tf.Tensor,
  ) -> tf.Tensor:
    """See `sampling.Network`."""
    node = tf.maximum(episodes.order[:, :, first:last], 0)
    shape = tf.shape(node)
    flat = tf.reshape(node, [shape[0], -1])

    def of_nodes(values: tf.Tensor) -> tf.Tensor:
      rows = tf.gather(values, flat, batch_dims=1)
      rows = tf.reshape(rows, tf.concat([shape, [tf.shape(values)[2]]], 0))
      rows.set_shape([None, None, None, values.shape[2]])
      return rows

    return self.scores(
      of_nodes(self.encode(graphs)),
      tf.transpose(episodes.seen[first:last], [1, 2, 0, 3, 4]),
      of_nodes(graphs.allowed),
      graphs.is_device[:, tf.newaxis, tf.newaxis],
    )

  def scores(
    self,
    context: tf.Tensor,
    features: tf.Tensor,
    allowed: tf.Tensor,
    is_device: tf.Tensor,
  ) -> tf.Tensor:
    """Log-probabilities of the devices for current groups.

    Args:
      context: float32 `[..., H]`, of the current groups.
      features: float32 `[..., D, DEVICE_FEATURES]`.
      allowed: bool `[..., D]`.
      is_device: bool, broadcasts to `[..., D]`.

    Returns:
      float32 `[..., D]`, `masked.ILLEGAL` where a device is not allowed.
    """
    if not self._structure:
      features *= tf.constant(_WITHOUT_STRUCTURE)
    units = tf.nn.relu(
      message_passing.dense(self._device, features)
      + context[..., tf.newaxis, :]
    )
    real = tf.cast(is_device, tf.float32)[..., tf.newaxis]
    mean = tf.reduce_sum(units * real, axis=-2) / tf.reduce_sum(real, axis=-2)
    mixed = message_passing.dense(self._mixed, units)
    mixed += message_passing.dense(self._others, mean)[..., tf.newaxis, :]
    score = message_passing.dense(self._score, tf.nn.relu(mixed))
    return masked.log_probs(tf.squeeze(score, -1), allowed)


# Of device_features.py, what is known without any edge.
_WITHOUT_STRUCTURE = [
  float(i in (0, 1, 6, 7, 17, 18, 19, 20, 22, 23))
  for i in range(device_features.DEVICE_FEATURES)
]


def _sets(graphs: graph_batch.GraphBatch) -> list[tf.Tensor]:
  """Three float32 `[M, G, G]`, rows that take means over the sets."""

  def cast(mask):
    return tf.cast(mask, tf.float32)

  pairs = graphs.is_group[:, tf.newaxis] & graphs.is_group[:, :, tf.newaxis]
  self_pairs = tf.eye(tf.shape(graphs.nodes)[1], dtype=tf.float32) > 0
  parallel = pairs & ~graphs.ancestors & ~graphs.descendants & ~self_pairs
  sets = [cast(graphs.ancestors), cast(graphs.descendants), cast(parallel)]
  return [
    rows / tf.maximum(tf.reduce_sum(rows, axis=2, keepdims=True), 1)
    for rows in sets
  ]
