"""Merges ops into groups that a policy can decide on, down to a number.

Three steps, each only where the merged group may still run where its costlier
part may:

1. constants, and what is computed from constants only, go with the first of
   their readers;
2. an op whose outputs only one op reads goes with its reader (ColocRL's rule,
   papers.md §2) - if that reader has no other input, or the op is cheap.
   Without this condition each branch of an Inception module would end up in
   the group of the concatenation behind it, and nothing could overlap;
3. merge and colocate (Placeto A.6): the cheapest group is merged into a
   neighbour until `max_groups` are left.

Groups stay an acyclic graph if they are one before step 2: a group is merged
only into the last of its predecessors or the first of its successors.
"""

import heapq

import numpy as np

from placer.core import op_graph

# A run of two ops that follow each other is merged up to this share of the
# whole cost, in units of 1 / max_groups.
_CHAIN_SHARE = 1.0
# Cheaper than this share of the mean group, an op isn't worth a decision.
_CHEAP_SHARE = 0.02


def coarsen(
  graph: op_graph.OpGraph,
  labels: np.ndarray,
  allowed: np.ndarray,
  op_cost: np.ndarray,
  max_groups: int,
) -> tuple[np.ndarray, np.ndarray]:
  """Merges groups of ops.

  Args:
    graph: N ops.
    labels: int32 `[N]`, hard colocation groups 0..H-1.
    allowed: bool `[H, D]`, the devices each hard group may use.
    op_cost: float64 `[N]`, an estimate of seconds; only its relations matter.
    max_groups: how many groups there may be; kept unless constraints stop it.

  Returns:
    (int32 `[N]` group of each op, numbered by first op; bool `[G, D]`).
  """
  if not len(graph):
    return np.zeros(0, np.int32), np.zeros((0, allowed.shape[1]), bool)
  work = _Groups(graph, labels, allowed, op_cost, max_groups)
  work.place_constants()
  work.contract_chains()
  work.merge_cheapest(max_groups)
  return work.result()


class _Groups:
  """A graph of groups that shrinks."""

  def __init__(self, graph, labels, allowed, op_cost, max_groups) -> None:
    count = int(labels.max()) + 1
    self._labels = labels
    self._into = list(range(count))
    self._cost = np.bincount(labels, op_cost, minlength=count)
    self._allowed = [row.copy() for row in allowed]
    self._position = np.full(count, len(graph), np.int64)
    np.minimum.at(self._position, labels, np.arange(len(graph)))
    self._before: list[dict[int, int]] = [{} for _ in range(count)]
    self._after: list[dict[int, int]] = [{} for _ in range(count)]
    self._constant = _constants(graph, labels, count)
    total = float(self._cost.sum())
    self._chain_limit = _CHAIN_SHARE * total / max_groups
    self._cheap = _CHEAP_SHARE * total / max_groups
    self._alive = count
    self._connect(graph, labels)

  def _connect(self, graph: op_graph.OpGraph, labels: np.ndarray) -> None:
    keep = ~graph.edge_is_back
    sources = labels[graph.edge_source[keep]].tolist()
    targets = labels[graph.edge_target[keep]].tolist()
    sizes = graph.edge_bytes[keep].tolist()
    for a, b, size in zip(sources, targets, sizes, strict=True):
      if a != b:
        self._after[a][b] = self._after[a].get(b, 0) + size
        self._before[b][a] = self._before[b].get(a, 0) + size

  def place_constants(self) -> None:
    """Step 1."""
    # Last first, so that a chain of constants follows its end.
    for group in np.argsort(-self._position, kind='stable').tolist():
      if self._constant[group] and self._after[group]:
        reader = min(self._after[group], key=self._position.__getitem__)
        if self._may_merge(group, reader, pinned_is_fine=True):
          self._merge(group, reader)

  def contract_chains(self) -> None:
    """Step 2."""
    for group in np.argsort(-self._position, kind='stable').tolist():
      if self._into[group] != group or len(self._after[group]) != 1:
        continue
      (reader,) = self._after[group]
      is_cheap = self._cost[group] <= self._cheap
      if not is_cheap and (
        len(self._before[reader]) != 1
        or self._cost[group] + self._cost[reader] > self._chain_limit
      ):
        continue
      if self._may_merge(group, reader):
        self._merge(group, reader)

  def merge_cheapest(self, max_groups: int) -> None:
    """Step 3."""
    heap = [
      (self._cost[g], g) for g in range(len(self._into)) if self._into[g] == g
    ]
    heapq.heapify(heap)
    while self._alive > max_groups and heap:
      cost, group = heapq.heappop(heap)
      if self._into[group] != group or cost != self._cost[group]:
        continue
      target = self._neighbour(group)
      if target is None:
        continue
      self._merge(group, target)
      heapq.heappush(heap, (self._cost[target], target))

  def _neighbour(self, group: int) -> int | None:
    """Last predecessor or first successor, the cheaper; else any alike."""
    position = self._position.__getitem__
    options = []
    if self._before[group]:
      options.append(max(self._before[group], key=position))
    if self._after[group]:
      options.append(min(self._after[group], key=position))
    options = [g for g in options if self._may_merge(group, g)]
    if options:
      return min(options, key=self._cost.__getitem__)
    if self._before[group] or self._after[group]:
      return None
    # An op without edges may join any group.
    for other in range(len(self._into)):
      if (
        other != group
        and self._into[other] == other
        and self._may_merge(group, other)
      ):
        return other
    return None

  def _may_merge(
    self, group: int, other: int, pinned_is_fine: bool = False
  ) -> bool:
    mine, theirs = self._allowed[group], self._allowed[other]
    both = mine & theirs
    if not both.any():
      return False
    if (both == theirs).all():  # the other loses nothing
      return (
        pinned_is_fine
        or self._cost[group] <= self._cost[other]
        or (both == mine).all()
      )
    return bool((both == mine).all() and self._cost[other] <= self._cost[group])

  def _merge(self, group: int, target: int) -> None:
    """Puts `group` into `target`, which keeps its position."""
    self._into[group] = target
    self._alive -= 1
    self._cost[target] += self._cost[group]
    self._allowed[target] &= self._allowed[group]
    self._constant[target] &= self._constant[group]
    for mine, theirs in (
      (self._before, self._after),
      (self._after, self._before),
    ):
      for other, size in mine[group].items():
        del theirs[other][group]
        if other != target:
          mine[target][other] = mine[target].get(other, 0) + size
          theirs[other][target] = theirs[other].get(target, 0) + size
      mine[group] = {}

  def result(self) -> tuple[np.ndarray, np.ndarray]:
    """The groups of ops and their devices, numbered by their first op."""
    roots = np.array([self._root(g) for g in range(len(self._into))])
    op_root = roots[self._labels]
    _, first = np.unique(op_root, return_index=True)
    ordered = op_root[np.sort(first)]
    number = {int(root): i for i, root in enumerate(ordered)}
    op_group = np.array([number[int(r)] for r in op_root], np.int32)
    return op_group, np.array([self._allowed[int(r)] for r in ordered])

  def _root(self, group: int) -> int:
    while self._into[group] != group:
      group = self._into[group]
    return group


def _constants(
  graph: op_graph.OpGraph, labels: np.ndarray, count: int
) -> np.ndarray:
  """bool `[count]`: groups whose every op is computed from constants."""
  constant = np.array([kind == 'Const' for kind in graph.types], bool)
  inputs: list[list[int]] = [[] for _ in graph.names]
  for source, target in zip(
    graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True
  ):
    inputs[target].append(source)
  for op, sources in enumerate(inputs):
    if sources and all(constant[s] for s in sources):
      constant[op] = True
  result = np.ones(count, bool)
  np.logical_and.at(result, labels, constant)
  return result
