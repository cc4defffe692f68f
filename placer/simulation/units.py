"""Units: the largest parts of groups that can run as one op each.

Groups have no order if one both feeds another and reads from it, as a
variable's group does in a training step. A group that is in no such cycle is
one unit. The others are cut by *level*, the most changes of group on any way
to an op: edges between groups go to a higher level, so units have an order.

Letters: `N` ops, `G` groups, `U` units, `E` edges.
"""

import heapq

import numpy as np

from placer.core import op_graph


def of_ops(graph: op_graph.OpGraph, op_group: np.ndarray) -> np.ndarray:
  """The unit of each op.

  Args:
    graph: N ops.
    op_group: int `[N]`, each below G.

  Returns:
    int32 `[N]`, units numbered in a topological order.
  """
  keep = ~graph.edge_is_back
  source, target = graph.edge_source[keep], graph.edge_target[keep]
  op_group = np.asarray(op_group, np.int64)
  in_cycle = _in_cycles(op_group[source], op_group[target], op_group)
  keys = op_group * (len(graph) + 1)
  if in_cycle.any():
    level = _levels(len(graph), source, target, op_group)
    keys += np.where(in_cycle[op_group], level, 0)
  _, first, units = np.unique(keys, return_index=True, return_inverse=True)
  order = _topological(units[source], units[target], first)
  return order[units].astype(np.int32)


def _in_cycles(
  source: np.ndarray, target: np.ndarray, op_group: np.ndarray
) -> np.ndarray:
  """bool `[G]`: groups that are left when sources and sinks are taken away.

  Those are all groups of all cycles, and some between two cycles.
  """
  count = int(op_group.max(initial=-1)) + 1
  edges = np.unique(np.stack([source, target])[:, source != target], axis=1)
  left = np.ones(count, bool)
  while True:
    edges = edges[:, left[edges[0]] & left[edges[1]]]
    has_both = np.zeros(count, bool)
    has_both[np.intersect1d(edges[0], edges[1])] = True
    if (has_both == left).all():
      return left
    left = has_both


def _levels(
  count: int, source: np.ndarray, target: np.ndarray, op_group: np.ndarray
) -> np.ndarray:
  """int64 `[N]`: the most changes of group on a way to an op.

  Ops that read nothing of another group, such as constants, take the level of
  what reads them first, and so join its unit.
  """
  hop = op_group[source] != op_group[target]
  edges = np.stack([source, target, hop], axis=1)
  level, is_free = [0] * count, [True] * count
  for s, t, h in edges[np.argsort(target, kind='stable')].tolist():
    level[t] = max(level[t], level[s] + h)
    is_free[t] = is_free[t] and is_free[s] and not h
  unread = count + 1
  latest = [unread] * count
  for s, t, h in edges[np.argsort(source, kind='stable')[::-1]].tolist():
    if is_free[s]:
      latest[s] = min(latest[s], (latest[t] if is_free[t] else level[t]) - h)
  return np.array(
    [
      late if free and late < count else own
      for own, free, late in zip(level, is_free, latest, strict=True)
    ],
    np.int64,
  )


def _topological(
  source: np.ndarray, target: np.ndarray, first_op: np.ndarray
) -> np.ndarray:
  """int64 `[U]`: the number of each unit, near the order of first ops."""
  count = len(first_op)
  edges = np.unique(np.stack([source, target])[:, source != target], axis=1)
  waits = np.bincount(edges[1], minlength=count).tolist()
  bounds = np.searchsorted(edges[0], np.arange(count + 1)).tolist()
  targets = edges[1].tolist()
  ready = [(int(first_op[u]), u) for u in range(count) if not waits[u]]
  heapq.heapify(ready)
  number = np.zeros(count, np.int64)
  for i in range(count):
    _, unit = heapq.heappop(ready)
    number[unit] = i
    for reader in targets[bounds[unit] : bounds[unit + 1]]:
      waits[reader] -= 1
      if not waits[reader]:
        heapq.heappush(ready, (int(first_op[reader]), reader))
  return number
