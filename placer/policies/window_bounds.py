"""When each op can start and must have ended, on any placement: valid bounds.

No schedule that the simulator can make, of any legal placement, is shorter than
what this says; it looks at less than the simulator does (transfers do not wait
for channels and keep no device busy, memory is not counted), never at more.

Letters: `N` ops, `D` devices.

`Windows`:
  heads: float64 `[N]`, no op starts earlier.
  tails: float64 `[N]`, no step ends earlier than this after the op's results.
  seconds: float, no step is shorter.
  method: what that is: 'critical path' or 'work' of all ops, or 'windows' where
    it takes both to see it.

Heads, in topological order; v is an op, its ancestors all that it waits for:
  path     results of a source, and the way if no device may have both;
  energy   ancestors that start at h or later keep slots busy: h, plus their
           work over all slots, plus the shortest way from them to v;
  moving   v starts at t: an ancestor whose results would come too late from
           any other device is on v's device, as are those of v's group, and
           what is on one device runs one after the other. If there is no device
           on which that is done by t, v starts later.
Tails are heads of the reversed graph. A step is no shorter than an op with its
head and tail, nor than the work of ops with heads of h and tails of t at least,
on all devices, or of one group on one.

Work is at prices (`priced_work.py`); the last gap on a slot may lie beyond, so
the largest one is taken off.
"""

import dataclasses
import time

import numpy as np

from placer.policies import planning_graph
from placer.policies import priced_work

# Above this many ops only paths and the work of all ops are looked at.
_MOST_OPS = 2_000
_BISECTIONS = 14
# The simulator adds the same times in another order.
_ROUNDING = 1 + 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class Windows:
  """When ops can run; see the module docstring."""

  heads: np.ndarray
  tails: np.ndarray
  seconds: float
  method: str = 'windows'


def windows(
  graph: planning_graph.PlanningGraph, seconds: float | None = None
) -> Windows:
  """Bounds the ops of a step.

  Args:
    graph: N ops; of a problem as it is simulated, coarse or not.
    seconds: when they are over, only paths are looked at; None for no limit.

  Returns:
    The Windows.
  """
  count = len(graph)
  if not count:
    return Windows(np.zeros(0), np.zeros(0), 0.0)
  work = priced_work.Work(graph)
  edges = _edges(graph, work.may)
  half = None if seconds is None else seconds / 2
  heads = _Heads(graph, work, edges, half).run()
  backwards = [(count - 1 - t, count - 1 - s, delay) for s, t, delay in edges]
  tails = _Heads(_reversed(graph), work.reversed(), backwards, half).run()[::-1]
  found = float((heads + work.hold + tails).max())
  found = max(found, _whole(graph, work, heads, tails))
  return Windows(heads, tails, found / _ROUNDING, _method(found, work, edges))


def _method(seconds: float, work: priced_work.Work, edges) -> str:
  """Which of the simplest bounds is as good as this one."""
  ends = work.hold.copy()
  for source, target, (_, least) in edges:
    ends[target] = max(ends[target], ends[source] + least + work.hold[target])
  if ends.max() * _ROUNDING >= seconds:
    return 'critical path'
  totals = zip(work.priced, work.slack, strict=True)
  if max(p.sum() - slack for p, slack in totals) * _ROUNDING >= seconds:
    return 'work'
  return 'windows'


@dataclasses.dataclass(frozen=True, eq=False)
class _Ops:
  """What the heads need to know of a graph in one of its directions.

  Attributes:
    group: int `[N]`.
    slots: int `[D]`.
  """

  group: np.ndarray
  slots: np.ndarray


def _reversed(graph) -> _Ops:
  return _Ops(graph.group[::-1], graph.slots)


def _edges(graph, may: np.ndarray) -> list[tuple[int, int, np.ndarray]]:
  """(source, target, [seconds if moved, seconds in any case]), by target."""
  devices = graph.num_devices
  away = ~np.eye(devices, dtype=bool)
  found: dict[tuple[int, int], tuple[float, float]] = {}
  for signal, readers in enumerate(graph.readers):
    source = int(graph.signals.source[signal])
    delay = np.where(away, graph.delay_seconds[signal], np.inf)
    for target in readers:
      pairs = may[source][:, np.newaxis] & may[target]
      moved = float(np.where(pairs, delay, np.inf).min())
      together = (may[source] & may[target]).any()
      if graph.group[source] == graph.group[target]:
        moved, together = np.inf, True
      least = 0.0 if together or np.isinf(moved) else moved
      before = found.get((source, target), (0.0, 0.0))
      found[source, target] = max(before[0], moved), max(before[1], least)
  rows = [(s, t, np.array(delay)) for (s, t), delay in found.items()]
  return sorted(rows, key=lambda row: (row[1], row[0]))


class _Heads:
  """Computes heads; see the module docstring."""

  def __init__(self, ops, work: priced_work.Work, edges, seconds) -> None:
    count = len(work.hold)
    self._end = None if seconds is None else time.monotonic() + seconds
    self._ops, self._work = ops, work
    self._sources: list[list[tuple[int, np.ndarray]]] = [
      [] for _ in range(count)
    ]
    for source, target, delay in edges:
      self._sources[target].append((source, delay))
    self._is_small = count <= _MOST_OPS
    size = (count, count) if self._is_small else (0, 0)
    # Row v, column a: from a's results to v's start, -inf if v does not wait
    # for a: the longest way; the times of the ops on the way that is longest
    # with a move on it; the cheapest move there, inf if it has none.
    self._way = np.full(size, -np.inf)
    self._base = np.full(size, -np.inf)
    self._move = np.full(size, np.inf)
    self._heads = np.zeros(count)

  def run(self) -> np.ndarray:
    is_small = self._is_small
    for op in range(len(self._heads)):
      self._path(op)
      # With fewer ways known the rest stays valid.
      if self._end is not None and time.monotonic() > self._end:
        is_small = False
      if is_small and self._sources[op]:
        self._ways(op)
        self._energy(op)
        self._moving(op)
    return self._heads

  def _path(self, op: int) -> None:
    for source, (_, least) in self._sources[op]:
      ready = self._heads[source] + self._work.hold[source] + least
      self._heads[op] = max(self._heads[op], ready)

  def _ways(self, op: int) -> None:
    way, base, move = self._way[op], self._base[op], self._move[op]
    for source, (away, least) in self._sources[op]:
      hold = self._work.hold[source]
      np.maximum(way, self._way[source] + hold + least, out=way)
      way[source] = max(way[source], least)
      longer = self._base[source] + hold
      longer[source] = 0.0
      cheapest = np.minimum(self._move[source], away)
      is_way = np.isfinite(longer)
      better = is_way & ~np.isfinite(base)
      both = is_way & ~better
      better[both] = longer[both] + cheapest[both] > base[both] + move[both]
      base[better], move[better] = longer[better], cheapest[better]

  def _energy(self, op: int) -> None:
    way = self._way[op]
    ancestors = np.flatnonzero(np.isfinite(way))
    order = ancestors[np.argsort(-self._heads[ancestors], kind='stable')]
    heads = self._heads[order]
    # What comes after the ops of a suffix, at least.
    rest = np.minimum.accumulate(way[order])
    for priced, slack in zip(self._work.priced, self._work.slack, strict=True):
      total = np.cumsum(priced[order]) - slack
      self._heads[op] = max(self._heads[op], (heads + total + rest).max())

  def _moving(self, op: int) -> None:
    way = self._way[op]
    ancestors = np.flatnonzero(np.isfinite(way))
    order = ancestors[np.argsort(-self._heads[ancestors], kind='stable')]
    heads, rest = self._heads[order], way[order]
    late = heads + self._work.hold[order]
    late += self._base[op][order] + self._move[op][order]
    late[self._ops.group[order] == self._ops.group[op]] = np.inf
    busy = self._work.busy[order]
    devices = np.flatnonzero(self._work.may[op])

    def can(t: float) -> bool:
      here = np.flatnonzero(late > t * _ROUNDING)
      if not len(here):
        return True
      least = np.minimum.accumulate(rest[here])
      for device in devices.tolist():
        total = np.cumsum(busy[here, device]) / self._ops.slots[device]
        total -= self._work.gap[device]
        if (heads[here] + total + least).max() <= t * _ROUNDING:
          return True
      return False

    low = self._heads[op]
    if can(low) or not len(devices):
      return
    high = low + float(np.where(np.isfinite(busy), busy, 0).max(axis=1).sum())
    for _ in range(_BISECTIONS):
      middle = (low + high) / 2
      low, high = (low, middle) if can(middle) else (middle, high)
    self._heads[op] = low


def _whole(graph, work: priced_work.Work, heads, tails) -> float:
  """The work of ops by the least head and tail."""
  found = 0.0
  for priced, slack in zip(work.priced, work.slack, strict=True):
    found = max(found, _by_tail(heads, tails, priced) - slack)
  for group in range(len(graph.allowed)):
    members = np.flatnonzero(graph.group == group)
    if len(members) > 1:
      best = np.inf
      for device in np.flatnonzero(graph.allowed[group]).tolist():
        busy = work.busy[members, device] / graph.slots[device]
        seconds = _by_tail(heads[members], tails[members], busy)
        best = min(best, seconds - work.gap[device])
      found = max(found, best if np.isfinite(best) else 0.0)
  return found


def _by_tail(heads: np.ndarray, tails: np.ndarray, work: np.ndarray) -> float:
  """The largest head + work + tail of ops with such heads and tails."""
  order = np.argsort(-heads, kind='stable')
  heads, tails, work = heads[order], tails[order], work[order]
  levels = np.unique(tails)
  if len(levels) > _MOST_OPS:
    levels = levels[:: len(levels) // _MOST_OPS + 1]
  best = 0.0
  for level in levels.tolist():
    those = tails >= level
    total = np.cumsum(work[those])
    best = max(best, float((heads[those] + total).max()) + level)
  return best
