"""Two-way message passing and three-set pooling (Placeto, section 2.2).

Letters: `N` nodes of a disjoint union of graphs, `E` edges, `H` units; `...`
are further axes, such as the states of an episode, that share the graph.

Each direction has networks f and g of its own, shared over nodes and rounds:

    x_v <- x_v + g(sum over neighbours u of f(x_u) + c(edge))

neighbours being predecessors (top-down) or successors (bottom-up); c is there
if edges have features. The paper prints the rule without the `x_v +`, by which
a node without neighbours would forget its own features.
"""

from collections.abc import Callable

import sonnet as snt
import tensorflow as tf
from graph_nets import blocks
from graph_nets import graphs


class TwoWay(snt.Module):
  """Message passing along and against the edges; see the module docstring."""

  def __init__(self, rounds: int, hidden: int, *, mean: bool) -> None:
    """Makes the networks.

    Args:
      rounds: of message passing.
      hidden: H.
      mean: divide the sum by the number of neighbours.
    """
    super().__init__(name='two_way')
    self._rounds, self._mean = rounds, mean
    self._directions = [
      {part: snt.Linear(hidden, name=f'{way}_{part}') for part in 'fgc'}
      for way in ('down', 'up')
    ]

  def __call__(
    self,
    nodes: tf.Tensor,
    senders: tf.Tensor,
    receivers: tf.Tensor,
    edges: tf.Tensor | None = None,
  ) -> tf.Tensor:
    """Embeds nodes.

    Args:
      nodes: float32 `[N, ..., H]`.
      senders: int32 `[E]`.
      receivers: int32 `[E]`.
      edges: float32 `[E, features]`, or None.

    Returns:
      float32 `[N, ..., 2 * H]`: top-down, then bottom-up.
    """
    ways = zip(
      self._directions,
      ((senders, receivers), (receivers, senders)),
      strict=True,
    )
    return tf.concat(
      [self._one_way(net, nodes, *ends, edges) for net, ends in ways], axis=-1
    )

  def _one_way(self, net, nodes, senders, receivers, edges) -> tf.Tensor:
    graph = graphs.GraphsTuple(
      nodes=nodes,
      edges=None,
      globals=None,
      senders=senders,
      receivers=receivers,
      n_node=tf.shape(nodes)[:1],
      n_edge=tf.shape(senders)[:1],
    )
    gather = blocks.ReceivedEdgesToNodesAggregator(
      tf.math.unsorted_segment_mean
      if self._mean
      else tf.math.unsorted_segment_sum
    )
    extra = 0.0 if edges is None else net['c'](edges)
    for _ in range(self._rounds):
      sent = graph.replace(nodes=tf.nn.relu(dense(net['f'], graph.nodes)))
      messages = blocks.broadcast_sender_nodes_to_edges(sent) + extra
      received = gather(graph.replace(edges=messages))
      graph = graph.replace(
        nodes=graph.nodes + tf.nn.relu(dense(net['g'], received))
      )
    return graph.nodes


class ThreeSets(snt.Module):
  """Pools ancestors, descendants and what is parallel: h_i(sum l_i(x_u))."""

  def __init__(self, hidden: int) -> None:
    """Makes the networks.

    Args:
      hidden: H, units of each l and h.
    """
    super().__init__(name='three_sets')
    self._inner = [snt.Linear(hidden, name=f'l_{i}') for i in range(3)]
    self._outer = [snt.Linear(hidden, name=f'h_{i}') for i in range(3)]

  def __call__(
    self,
    nodes: tf.Tensor,
    pool: Callable[[int, tf.Tensor], tf.Tensor],
  ) -> tf.Tensor:
    """Pools.

    Args:
      nodes: float32 `[..., X]`.
      pool: gives the sums of set 0, 1 or 2 of its second argument, of shape
        `[..., H]`, in any shape `[…, H]`.

    Returns:
      float32 `[…, 3 * H]`.
    """
    pooled = []
    for i, (inner, outer) in enumerate(
      zip(self._inner, self._outer, strict=True)
    ):
      sums = pool(i, tf.nn.relu(dense(inner, nodes)))
      pooled.append(tf.nn.relu(dense(outer, sums)))
    return tf.concat(pooled, axis=-1)


def dense(layer: snt.Linear, inputs: tf.Tensor) -> tf.Tensor:
  """A linear layer on the last axis, as one product of two matrices."""
  width = inputs.shape[-1]
  outputs = layer(tf.reshape(inputs, [-1, width]))
  shape = tf.concat([tf.shape(inputs)[:-1], [layer.output_size]], axis=0)
  outputs = tf.reshape(outputs, shape)
  outputs.set_shape([*inputs.shape[:-1], layer.output_size])
  return outputs
