"""A bound on all placements by branch and bound over where groups are.

A node says for each group where it may still be. Its bound is that of
`assignment_kernel.py`: ways with the transfers that are certain, work on each
device, traffic through each channel. The node with the least bound is next: it
is bounded again, deeply, and one of its groups is put on each of its devices in
turn, the one whose children have the highest bounds. What reaches the step of a
known placement is dropped. So at any time no placement is faster than the least
bound of all open nodes, or than the known one; when no node is left, the known
one is the fastest there is.

  devices that are alike (costs, links, memory) may be exchanged: where groups
    may be on both or on neither, only the first is tried;
  persistent memory of what is decided has to fit.

It knows neither that ops run in the order in which they become ready nor that
transfers do, and looks at each device and each channel on its own.
"""

import dataclasses
import heapq
import time

import numpy as np

from placer.policies import bound_arrays
from placer.policies import planning_graph
from placer.policies import priced_work
from placer.policies import window_bounds

# Above this many ops energy takes too much time, and memory.
_MOST_DEEP_OPS = 2_000
# The simulator adds the same times in another order.
_ROUNDING = 1 + 1e-9
_NEVER = 1e300


@dataclasses.dataclass(frozen=True)
class SearchLimits:
  """How long to search.

  Attributes:
    seconds: of time, or None.
    nodes: to be looked at; equal searches stop at the same one.
    choices: groups tried at a node before it is divided by one of them.
  """

  seconds: float | None = None
  nodes: int = 200_000
  choices: int = 8


def search(
  graph: planning_graph.PlanningGraph,
  windows: window_bounds.Windows,
  memory_bytes: np.ndarray,
  known_seconds: float = np.inf,
  limits: SearchLimits = SearchLimits(),
) -> float:
  """Searches as far as time allows.

  Args:
    graph: N ops in G groups on D devices.
    windows: of its ops.
    memory_bytes: int64 `[D]`.
    known_seconds: the step of a placement that runs, inf if none is known.
    limits: how long.

  Returns:
    Seconds that no placement that runs is below; at least those of `windows`,
    at most `known_seconds`.
  """
  if not len(graph):
    return windows.seconds
  found = _Search(graph, windows, memory_bytes, known_seconds, limits).run()
  return max(windows.seconds, min(found / _ROUNDING, known_seconds))


@dataclasses.dataclass(frozen=True, eq=False, order=False)
class _Node:
  """Where groups may be, and heads and tails of ops, or of its parent's."""

  mask: np.ndarray
  heads: np.ndarray
  tails: np.ndarray


class _Search:
  """One search; `run` once."""

  def __init__(self, graph, windows, memory_bytes, known_seconds, limits):
    # numba takes 0.3 s to import: only for those who search.
    from placer.policies import assignment_kernel

    self._bound = assignment_kernel.bound
    self._graph, self._limits, self._memory = graph, limits, memory_bytes
    self._known = float(min(known_seconds, _NEVER))
    self._step = bound_arrays.make_step(graph, priced_work.prices(graph))
    self._is_deep = len(graph) <= _MOST_DEEP_OPS
    self._scratch = bound_arrays.make_scratch(self._step, deep=self._is_deep)
    self._alike = _alike(graph, memory_bytes)
    least = np.where(graph.op_allowed, self._step.busy, np.inf).min(axis=1)
    self._weight = np.bincount(graph.group, least, minlength=len(graph.allowed))
    self._root = _Node(graph.allowed, windows.heads, windows.tails)
    self._open: list[tuple[float, int, _Node]] = []
    self._nodes = 0

  def run(self) -> float:
    self._push(0.0, self._root)
    begin, limits = time.thread_time(), self._limits
    while self._open:
      bound, _, node = self._open[0]
      out_of_time = (
        limits.seconds is not None
        and time.thread_time() - begin > limits.seconds
      )
      if self._nodes >= limits.nodes or out_of_time:
        return bound
      heapq.heappop(self._open)
      again, node = self._deeper(node)
      bound = max(bound, again)
      if self._open and bound > self._open[0][0]:
        self._push(bound, node)
      elif (node.mask.sum(axis=1) <= 1).all():
        return min(bound, self._known)
      else:
        for child_bound, child in self._divide(bound, node):
          self._push(child_bound, child)
    return self._known

  def _push(self, bound: float, node: _Node) -> None:
    if bound < self._known:
      # Of equal nodes the first one made is the first to be looked at.
      self._nodes += 1
      heapq.heappush(self._open, (bound, self._nodes, node))

  def _deeper(self, node: _Node) -> tuple[float, _Node]:
    """The node with what a deep look at it finds."""
    mask = node.mask.copy()
    heads, tails = node.heads.copy(), node.tails.copy()
    bound = self._bound(
      self._step, mask, self._known, heads, tails, self._scratch, self._is_deep
    )
    return bound, _Node(mask, heads, tails)

  def _divide(self, bound: float, node: _Node) -> list[tuple[float, _Node]]:
    """The children of a node by the group that raises their bounds most."""
    undecided = np.flatnonzero(node.mask.sum(axis=1) > 1)
    order = np.argsort(-self._weight[undecided], kind='stable')
    best, best_rank = [], None
    for group in undecided[order[: self._limits.choices]].tolist():
      children = self._children(bound, node, group)
      bounds = [min(child_bound, self._known) for child_bound, _ in children]
      rank = min(bounds), sum(bounds)
      if best_rank is None or rank > best_rank:
        best, best_rank = children, rank
      if rank[0] >= self._known:
        break
    return best

  def _children(self, bound, node, group: int) -> list[tuple[float, _Node]]:
    children = []
    for device in np.flatnonzero(node.mask[group]).tolist():
      if any(
        (node.mask[:, device] == node.mask[:, other]).all()
        for other in self._alike[device]
      ):
        continue
      mask = node.mask.copy()
      mask[group] = False
      mask[group, device] = True
      found = self._known
      if self._fits(mask):
        found = self._bound(
          self._step,
          mask,
          self._known,
          node.heads,
          node.tails,
          self._scratch,
          False,
        )
      children.append((max(bound, found), _Node(mask, node.heads, node.tails)))
    return children

  def _fits(self, mask: np.ndarray) -> bool:
    """Whether what is decided fits into memory."""
    decided = mask & (mask.sum(axis=1) == 1)[:, np.newaxis]
    taken = self._graph.persistent_bytes @ decided
    return bool((taken <= self._memory).all())


def _alike(
  graph: planning_graph.PlanningGraph, memory_bytes: np.ndarray
) -> list[list[int]]:
  """The devices before each of the D devices that it may be exchanged with."""
  count = graph.num_devices
  return [
    [
      other
      for other in range(device)
      if _may_be_exchanged(graph, memory_bytes, device, other)
    ]
    for device in range(count)
  ]


def _may_be_exchanged(graph, memory_bytes, one: int, other: int) -> bool:
  order = np.arange(graph.num_devices)
  order[[one, other]] = other, one
  rows = graph.allowed, graph.hold_seconds, graph.gap_seconds
  rows += graph.slots[np.newaxis], memory_bytes[np.newaxis]
  stages = graph.send_seconds, graph.wire_seconds, graph.latency_seconds
  stages += (graph.receive_seconds,)
  if not all(np.array_equal(row[:, order], row) for row in rows) or not all(
    np.array_equal(stage[:, order][:, :, order], stage) for stage in stages
  ):
    return False
  # The same signals share a channel; which number it has does not matter.
  away = ~np.eye(graph.num_devices, dtype=bool)
  before = graph.channel[:, away]
  after = graph.channel[:, order][:, :, order][:, away]
  pairs = np.unique(np.stack([before.ravel(), after.ravel()]), axis=1)
  return all(len(np.unique(row)) == pairs.shape[1] for row in pairs)
