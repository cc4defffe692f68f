"""BlockGraph: groups joined into blocks that nobody would separate.

What a person moves is not an op but a layer, a tower, a branch. Letters: `G`
groups, `D` devices, `K` blocks, `M` edges.

  problem: the PlacementProblem.
  block_of_group: int32 `[G]`; blocks are numbered in a topological order.
  seconds: float64 `[K]`, the estimated time of each block.
  allowed: bool `[K, D]`, the devices that a block's costliest group may use.
  source, target: int32 `[M]`, edges between blocks, source < target.
  bytes: int64 `[M]`, what an edge carries.

Joined are, in this order:
  1. ends that wait for others but read nothing (the NoOp that gathers all
     reads of variables) with the last of those;
  2. sources (constants, variables, small inputs) with their first reader; what
     else they send is little and left out of the edges;
  3. all readers of a source whose tensor takes longer to send than they take
     to run: the steps of a recurrent layer, which share its weights;
  4. chains, where one block is all that reads another, which is all it reads.

Groups need not be acyclic (a variable's group in a training step both feeds
and reads). A group's place is that of its costliest op, and edges that go back
are left out of this picture.
"""

import dataclasses
import functools

import numpy as np

from placer.core import placement_problem
from placer.policies import estimate

# A source computes nothing, or little beside its readers or an average group.
_LIGHT_OF_READERS = 0.05
_LIGHT_OF_MEAN = 0.1
# Sending less than this (1.7 MB) is never a reason to keep readers together.
_MIN_SENDING_SECONDS = 2e-3


@dataclasses.dataclass(frozen=True, eq=False)
class BlockGraph:
  """Groups joined into blocks; see the module docstring."""

  problem: placement_problem.PlacementProblem
  block_of_group: np.ndarray
  seconds: np.ndarray
  allowed: np.ndarray
  source: np.ndarray
  target: np.ndarray
  bytes: np.ndarray

  def __len__(self) -> int:
    return len(self.seconds)

  def candidate(self, devices: np.ndarray) -> np.ndarray:
    """The legal candidate nearest to a device for each block.

    Args:
      devices: int `[K]`.

    Returns:
      int32 `[G]`; groups that may not follow their block are on the first
      device that they may use.
    """
    placed = np.asarray(devices, np.int32)[self.block_of_group]
    return placement_problem.nearest_legal(placed, self.problem.allowed)

  def devices(self, candidate: np.ndarray) -> np.ndarray:
    """The device int32 `[K]` where most of each block's seconds are."""
    votes = np.zeros(self.allowed.shape)
    weight = estimate.group_seconds(self.problem)
    np.add.at(votes, (self.block_of_group, candidate), weight)
    votes[~self.allowed] = -1
    return votes.argmax(axis=1).astype(np.int32)

  @functools.cached_property
  def neighbours(self) -> tuple[tuple[int, ...], ...]:
    """The blocks that each of the K blocks shares an edge with."""
    found: list[set[int]] = [set() for _ in range(len(self))]
    for s, t in zip(self.source.tolist(), self.target.tolist(), strict=True):
      found[s].add(t)
      found[t].add(s)
    return tuple(tuple(sorted(blocks)) for blocks in found)

  @functools.cached_property
  def segments(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The blocks in a row of segments, each a set of parallel branches.

    A block that all ways through the graph pass is a segment of one branch;
    what lies between two such blocks is a segment whose branches are its
    connected parts.
    """
    count = len(self)
    over = np.zeros(count + 2, np.int64)
    has_source, has_target = np.zeros(count, bool), np.zeros(count, bool)
    has_source[self.target] = True
    has_target[self.source] = True
    # Every start hangs on a node before the first block, every end on one
    # after the last; an edge passes over the blocks strictly inside it.
    starts, ends = np.flatnonzero(~has_source), np.flatnonzero(~has_target)
    for s, t in [
      *zip(self.source, self.target, strict=True),
      *((-1, t) for t in starts),
      *((s, count) for s in ends),
    ]:
      over[s + 1] += 1
      over[t] -= 1
    passed = np.cumsum(over)[:count] > 0
    rows: list[tuple[tuple[int, ...], ...]] = []
    inside: list[int] = []
    for block in range(count):
      if passed[block]:
        inside.append(block)
        continue
      if inside:
        rows.append(self._parts(inside))
        inside = []
      rows.append(((block,),))
    if inside:
      rows.append(self._parts(inside))
    return tuple(rows)

  def _parts(self, blocks: list[int]) -> tuple[tuple[int, ...], ...]:
    """The connected parts of some of the blocks."""
    sets = _Sets(len(self))
    members = set(blocks)
    for block in blocks:
      for other in self.neighbours[block]:
        if other in members:
          sets.join(block, other)
    parts: dict[int, list[int]] = {}
    for block in blocks:
      parts.setdefault(sets.find(block), []).append(block)
    return tuple(tuple(part) for part in parts.values())


def build(
  problem: placement_problem.PlacementProblem,
  rates: estimate.Rates = estimate.Rates(),
  *,
  chains: bool = True,
) -> BlockGraph:
  """Joins the groups of a problem.

  Args:
    problem: G groups on D devices.
    rates: for the estimate of times.
    chains: whether to join chains too.

  Returns:
    The BlockGraph.
  """
  seconds = estimate.group_seconds(problem, rates)
  place = _places(problem, rates)
  source, target, size = problem.group_edges
  forward = place[source] < place[target]
  edges = (source[forward], target[forward], size[forward])
  sets = _Sets(problem.num_groups)
  edges = _join_ends(sets, edges, seconds, place)
  flops = np.bincount(
    problem.op_group, problem.graph.flops, minlength=problem.num_groups
  )
  idle = (flops == 0) & (flops.sum() > 0)
  edges = _join_sources(sets, edges, seconds, place, idle, rates)
  if chains:
    _join_chains(sets, edges, place)
  return _collect(problem, sets, edges, seconds, place)


class _Sets:
  """Disjoint sets of 0..count-1."""

  def __init__(self, count: int) -> None:
    self._parent = list(range(count))

  def find(self, item: int) -> int:
    parent = self._parent
    while parent[item] != item:
      parent[item] = parent[parent[item]]
      item = parent[item]
    return item

  def join(self, one: int, other: int) -> None:
    self._parent[self.find(one)] = self.find(other)


def _places(problem, rates) -> np.ndarray:
  """int64 `[G]`: the index of each group's costliest op."""
  seconds = estimate.op_seconds(problem, rates)
  return np.array(
    [ops[seconds[ops].argmax()] for ops in problem.group_members], np.int64
  )


def _join_ends(sets, edges, seconds, place) -> tuple[np.ndarray, ...]:
  """Step 1 of the module docstring; returns the edges that are left."""
  source, target, size = edges
  if not len(source):
    return edges
  count = len(seconds)
  reads = np.bincount(target, size, minlength=count) > 0
  waits = np.bincount(target, minlength=count) > 0
  is_read = np.bincount(source, minlength=count) > 0
  light = seconds <= _LIGHT_OF_MEAN * seconds.mean()
  is_end = waits & ~reads & ~is_read & light
  for end in np.flatnonzero(is_end).tolist():
    before = source[target == end]
    sets.join(end, int(before[place[before].argmax()]))
  keep = ~is_end[target]
  return source[keep], target[keep], size[keep]


def _join_sources(
  sets, edges, seconds, place, idle, rates
) -> tuple[np.ndarray, ...]:
  """Steps 2 and 3; returns the edges that are left."""
  count = len(seconds)
  sources: list[list[int]] = [[] for _ in range(count)]
  readers: list[list[tuple[int, int]]] = [[] for _ in range(count)]
  for s, t, size in zip(*(array.tolist() for array in edges), strict=True):
    sources[t].append(s)
    readers[s].append((t, size))
  light = _LIGHT_OF_MEAN * seconds.mean() if count else 0.0
  is_source = np.zeros(count, bool)
  for group in np.argsort(place, kind='stable').tolist():
    if not readers[group] or not is_source[sources[group]].all():
      continue
    of_readers = sum(seconds[reader] for reader, _ in readers[group])
    is_source[group] = idle[group] or (
      seconds[group] <= max(light, _LIGHT_OF_READERS * of_readers)
    )
  keep = np.ones(len(edges[0]), bool)
  for group in np.flatnonzero(is_source).tolist():
    sending = {
      reader: rates.link_latency_seconds + size / rates.link_bytes_per_second
      for reader, size in readers[group]
    }
    if len(sending) == 1 or max(sending.values()) <= _MIN_SENDING_SECONDS:
      sets.join(group, min(sending, key=lambda reader: place[reader]))
      keep &= edges[0] != group
      continue
    for reader, seconds_sent in sending.items():
      worth = max(seconds[reader], _MIN_SENDING_SECONDS)
      if is_source[reader] or seconds_sent > worth:
        sets.join(group, reader)
  return tuple(array[keep] for array in edges)


def _join_chains(sets, edges, place) -> None:
  """Step 4 of the module docstring."""
  before: dict[int, set[int]] = {}
  after: dict[int, set[int]] = {}
  for s, t in zip(edges[0].tolist(), edges[1].tolist(), strict=True):
    s, t = sets.find(s), sets.find(t)
    if s != t:
      after.setdefault(s, set()).add(t)
      before.setdefault(t, set()).add(s)
  for one, readers in sorted(after.items(), key=lambda item: place[item[0]]):
    if len(readers) == 1:
      (other,) = readers
      if before[other] == {one}:
        sets.join(one, other)


def _collect(problem, sets, edges, seconds, place) -> BlockGraph:
  roots = np.array([sets.find(g) for g in range(problem.num_groups)], np.int64)
  found, members = np.unique(roots, return_inverse=True)
  # The place of a block and its devices are those of its costliest group.
  order = np.lexsort((-seconds, members))
  _, first = np.unique(members[order], return_index=True)
  chief = order[first]
  rank = np.empty(len(found), np.int32)
  rank[np.argsort(place[chief], kind='stable')] = np.arange(len(found))
  block = rank[members] if len(found) else np.zeros(0, np.int32)
  source, target = block[edges[0]], block[edges[1]]
  forward = source < target
  pairs = np.stack([source, target], axis=1)[forward]
  pairs, inverse = np.unique(pairs, axis=0, return_inverse=True)
  allowed = np.empty((len(found), len(problem.devices)), bool)
  allowed[rank] = problem.allowed[chief]
  return BlockGraph(
    problem=problem,
    block_of_group=block,
    seconds=np.bincount(block, seconds, minlength=len(found)),
    allowed=allowed,
    source=pairs[:, 0].astype(np.int32),
    target=pairs[:, 1].astype(np.int32),
    bytes=np.bincount(
      inverse.ravel(), edges[2][forward], minlength=len(pairs)
    ).astype(np.int64),
  )
