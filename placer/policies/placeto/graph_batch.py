"""GraphBatch: the arrays of several problems, padded, as one argument.

Letters: `M` graphs, `G` and `D` groups and devices of the largest of them, `E`
edges of all of them. Node `m * G + g` is group g of graph m. Padded groups
have no edges, cost nothing and are never visited; padded devices are never
legal. The fields are those of `GraphArrays`, and:

  start: float32 `[M, G, START_FEATURES]`, what depends on the placement that a
    sweep starts with: when a group starts to run as a share of the step, the
    shares of its inputs and its outputs that come from or go to another
    device, its slowdown against its fastest device (log), and how much its
    device has to do (its load as a multiple of an equal share).
  is_group: bool `[M, G]`.
  is_device: bool `[M, D]`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from placer.policies.placeto import graph_arrays

START_FEATURES = 5
_NODE = ('nodes', 'memory', 'seconds', 'output_bytes')
_PAIR = ('ancestors', 'descendants', 'volume', 'messages')
_CHOICE = ('cost', 'allowed')
_LINK = ('per_volume', 'per_message')


class GraphBatch(NamedTuple):
  """Arrays, or tensors, of M graphs; see the module docstring."""

  seconds: np.ndarray
  output_bytes: np.ndarray
  nodes: np.ndarray
  start: np.ndarray
  senders: np.ndarray
  receivers: np.ndarray
  edges: np.ndarray
  ancestors: np.ndarray
  descendants: np.ndarray
  cost: np.ndarray
  allowed: np.ndarray
  volume: np.ndarray
  messages: np.ndarray
  per_volume: np.ndarray
  per_message: np.ndarray
  memory: np.ndarray
  room: np.ndarray
  is_group: np.ndarray
  is_device: np.ndarray


def stack(
  graphs: Sequence[graph_arrays.GraphArrays], starts: Sequence[np.ndarray]
) -> GraphBatch:
  """Pads M graphs to the same shape.

  Args:
    graphs: M, at least one.
    starts: M arrays float `[G, START_FEATURES]`, of `start_features`.

  Returns:
    The GraphBatch, of numpy arrays.
  """
  groups = max(graph.num_groups for graph in graphs)
  devices = max(graph.num_devices for graph in graphs)
  extents = dict.fromkeys(_NODE, (groups,))
  extents |= dict.fromkeys(_PAIR, (groups, groups))
  extents |= dict.fromkeys(_CHOICE, (groups, devices))
  extents |= dict.fromkeys(_LINK, (devices, devices))
  extents['room'] = (devices,)
  fields = {
    name: np.stack([_pad(getattr(graph, name), shape) for graph in graphs])
    for name, shape in extents.items()
  }
  for name in ('senders', 'receivers'):
    fields[name] = np.concatenate(
      [getattr(graph, name) + m * groups for m, graph in enumerate(graphs)]
    ).astype(np.int32)
  return GraphBatch(
    start=np.stack(
      [_pad(np.asarray(start, np.float32), (groups,)) for start in starts]
    ),
    edges=np.concatenate([graph.edges for graph in graphs]),
    is_group=np.stack([np.arange(groups) < g.num_groups for g in graphs]),
    is_device=np.stack([np.arange(devices) < g.num_devices for g in graphs]),
    **fields,
  )


def to_tensors(batch: GraphBatch) -> GraphBatch:
  """The same batch as tensors."""
  return GraphBatch(*map(tf.constant, batch))


def start_features(
  graph: graph_arrays.GraphArrays,
  placement: np.ndarray,
  start_seconds: np.ndarray,
  step_seconds: float,
) -> np.ndarray:
  """What depends on the placement that a sweep starts with.

  Args:
    graph: G groups.
    placement: int `[G]`.
    start_seconds: float `[G]`, when each group starts to run in it.
    step_seconds: the step of that placement.

  Returns:
    float32 `[G, START_FEATURES]`.
  """
  away = placement[:, np.newaxis] != placement
  sent = graph.volume + graph.messages
  cost = graph.cost[np.arange(len(placement)), placement]
  fastest = graph.seconds / graph.unit_seconds
  load = np.bincount(placement, cost, minlength=graph.num_devices)
  share = load * graph.num_devices / max(load.sum(), 1e-9)
  columns = [
    start_seconds / max(step_seconds, 1e-12),
    (sent * away).sum(axis=0) / np.maximum(sent.sum(axis=0), 1e-9),
    (sent * away).sum(axis=1) / np.maximum(sent.sum(axis=1), 1e-9),
    np.log1p(cost) - np.log1p(fastest),
    share[placement],
  ]
  stacked = np.nan_to_num(np.stack(columns, axis=1), posinf=1, neginf=0)
  return np.clip(stacked, -10, 10).astype(np.float32)


def _pad(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
  """Zeros behind the leading axes."""
  widths = [(0, want - have) for want, have in zip(shape, array.shape)]
  widths += [(0, 0)] * (array.ndim - len(widths))
  return np.pad(array, widths)
