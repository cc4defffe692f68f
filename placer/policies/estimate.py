"""Estimate: roughly how long groups and whole steps take, without running.

A stop-gap for the compiled simulator: good enough to balance a split and to
propose candidates, never to judge one; that is what measurements are for.

Letters: `N` ops, `G` groups, `D` devices, `U` units.

An op takes flops / rate + bytes touched / rate + an overhead, or what the costs
of a graph without flops say. A step is list
scheduled, first ready first served, a device running one thing at a time, each
tensor sent once to each device that reads it. What is scheduled is not ops but
*units*, the largest parts of groups that can be merged without a cycle: a
group may well both feed another and read from it (a variable's group in a
training step), so groups themselves have no order.
"""

import dataclasses
import heapq

import numpy as np

from placer.core import op_graph
from placer.core import placement_problem

_NEARLY_ALL = 0.95


@dataclasses.dataclass(frozen=True)
class Rates:
  """What the estimate assumes of devices and links.

  The defaults are of one CPU core (Inception-V3, batch 8: 91 Gflop in 0.85 s)
  and of gRPC on loopback.

  Attributes:
    flops_per_second: of one device.
    bytes_per_second: at which an op reads inputs and writes outputs.
    op_seconds: overhead of each op.
    link_latency_seconds: of a link that was not measured.
    link_bytes_per_second: of a link that was not measured.
    send_seconds: time that sender and receiver each are busy with a tensor.
    send_bytes_per_second: the part of it that grows with the tensor.
  """

  flops_per_second: float = 1.3e11
  bytes_per_second: float = 1e10
  op_seconds: float = 5e-6
  link_latency_seconds: float = 0.6e-3
  link_bytes_per_second: float = 1.2e9
  send_seconds: float = 0.1e-3
  send_bytes_per_second: float = 2.5e9


@dataclasses.dataclass(frozen=True)
class Scale:
  """Factors that make the estimate fit what was measured.

  Attributes:
    compute: D factors, one a device, on the time of its ops; () for all 1.
    transfer: on all times of sending.
  """

  compute: tuple[float, ...] = ()
  transfer: float = 1.0


def op_seconds(
  problem: placement_problem.PlacementProblem, rates: Rates = Rates()
) -> np.ndarray:
  """The estimated time of each op on any device.

  Args:
    problem: N ops; where it has costs and no flops at all, as graphs of
      measured costs do, an op's time on its fastest device counts.
    rates: what is assumed.

  Returns:
    float64 `[N]`, seconds.
  """
  graph, costs = problem.graph, problem.costs
  if costs is not None and not graph.flops.any():
    seconds = costs.op_seconds.min(axis=1, initial=np.inf) * costs.op_runs
    return np.where(np.isfinite(seconds), seconds, 0.0)
  touched = graph.output_bytes + np.bincount(
    graph.edge_target, graph.edge_bytes, minlength=len(graph)
  )
  return (
    graph.flops / rates.flops_per_second
    + touched / rates.bytes_per_second
    + rates.op_seconds
  )


def group_seconds(
  problem: placement_problem.PlacementProblem, rates: Rates = Rates()
) -> np.ndarray:
  """The estimated time of all ops of each group.

  Args:
    problem: G groups.
    rates: what is assumed.

  Returns:
    float64 `[G]`, seconds.
  """
  return np.bincount(
    problem.op_group,
    op_seconds(problem, rates),
    minlength=problem.num_groups,
  )


def unit_of_op(graph: op_graph.OpGraph, op_group: np.ndarray) -> np.ndarray:
  """Merges the ops of each group into units between which there is no cycle.

  An op's level is the most changes of group on any way to it. Ops of one
  group and level are a unit; edges between units go to a higher level, so
  there is no cycle. Ops that read nothing of another group (constants,
  variables) take the level of what reads them.

  Args:
    graph: N ops.
    op_group: int `[N]`, the group of each op.

  Returns:
    int32 `[N]`, units numbered in a topological order.
  """
  keep = np.flatnonzero(~graph.edge_is_back)
  source, target = graph.edge_source[keep], graph.edge_target[keep]
  hop = op_group[source] != op_group[target]
  level = [0] * len(graph)
  free = [True] * len(graph)
  order = np.argsort(target, kind='stable')
  edges = np.stack([source, target, hop], axis=1)
  for s, t, h in edges[order].tolist():
    level[t] = max(level[t], level[s] + h)
    free[t] = free[t] and free[s] and not h
  latest = [len(graph) + 1] * len(graph)
  order = np.argsort(source, kind='stable')[::-1]
  for s, t, h in edges[order].tolist():
    if free[s]:
      latest[s] = min(latest[s], (latest[t] if free[t] else level[t]) - h)
  for op in range(len(graph)):
    if free[op] and latest[op] <= len(graph):
      level[op] = latest[op]
  keys = np.asarray(level, np.int64) * (op_group.max(initial=0) + 1)
  _, units = np.unique(keys + op_group, return_inverse=True)
  return units.astype(np.int32)


class Schedule:
  """Estimates steps of one problem; see the module docstring.

  Attributes:
    unit_group: int32 `[U]`, the group of each unit.
    unit_seconds: float64 `[U]`, estimated time of each unit.
  """

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    rates: Rates = Rates(),
    block_of_group: np.ndarray | None = None,
  ) -> None:
    """Prepares the units.

    Args:
      problem: G groups on D devices; its links are used where measured.
      rates: what is assumed of the rest.
      block_of_group: int `[G]`: schedule blocks of groups instead of groups,
        which is faster; candidates are then `[K]`, a device for each block.
    """
    op_group = problem.op_group
    if block_of_group is not None:
      op_group = block_of_group[op_group]
    units = unit_of_op(problem.graph, op_group)
    count = int(units.max()) + 1 if len(units) else 0
    self.unit_group = np.zeros(count, np.int32)
    self.unit_group[units] = op_group
    self.unit_seconds = np.bincount(
      units, op_seconds(problem, rates), minlength=count
    )
    self._tensors, self._waits = _messages(problem, units, count)
    self._sends = [
      [
        rates.send_seconds + size / rates.send_bytes_per_second
        for size, _ in tensors
      ]
      for tensors in self._tensors
    ]
    self._links = _links(problem, rates)

  def main_device(self, candidate: np.ndarray) -> int | None:
    """The device that has nearly all of the work, None if there is none."""
    placed = np.asarray(candidate, np.int64)[self.unit_group]
    loads = np.bincount(placed, self.unit_seconds, minlength=len(self._links))
    main = int(loads.argmax())
    return main if loads[main] > _NEARLY_ALL * loads.sum() else None

  def makespan(self, candidate: np.ndarray, scale: Scale = Scale()) -> float:
    """The estimated step time of one candidate.

    Args:
      candidate: int `[G]`, a device for each group.
      scale: corrections.

    Returns:
      Seconds; 0 for an empty graph.
    """
    placed = np.asarray(candidate)[self.unit_group]
    seconds = self.unit_seconds
    if scale.compute:
      seconds = seconds * np.asarray(scale.compute)[placed]
    placed, seconds = placed.tolist(), seconds.tolist()
    waits = self._waits.copy()
    ready = [0.0] * len(placed)
    free = [0.0] * len(self._links)
    end = 0.0
    queue = [(0.0, unit) for unit, wait in enumerate(waits) if not wait]
    while queue:
      start, unit = heapq.heappop(queue)
      device = placed[unit]
      done = max(start, free[device]) + seconds[unit]
      free[device] = done
      end = max(end, done)
      for (size, targets), send in zip(
        self._tensors[unit], self._sends[unit], strict=True
      ):
        arrivals = {device: done}
        for target in targets:
          other = placed[target]
          if other not in arrivals:
            latency, rate = self._links[device][other]
            send *= scale.transfer
            free[device] += send
            seconds[target] += send
            arrivals[other] = (
              free[device] + (latency + size / rate) * scale.transfer
            )
          if arrivals[other] > ready[target]:
            ready[target] = arrivals[other]
          waits[target] -= 1
          if not waits[target]:
            heapq.heappush(queue, (ready[target], target))
    return end


def _messages(
  problem: placement_problem.PlacementProblem,
  units: np.ndarray,
  count: int,
) -> tuple[list[list[tuple[int, list[int]]]], list[int]]:
  """Per unit its tensors as (bytes, reading units), and what each waits for."""
  graph = problem.graph
  keep = ~graph.edge_is_back
  source = units[graph.edge_source[keep]]
  target = units[graph.edge_target[keep]]
  # Control edges of an op are a tensor of no bytes.
  tensor = np.where(
    graph.edge_tensor[keep] >= 0,
    graph.edge_tensor[keep].astype(np.int64),
    len(graph.tensor_bytes) + graph.edge_source[keep].astype(np.int64),
  )
  rows = np.stack([source, tensor, target, graph.edge_bytes[keep]], axis=1)
  rows = np.unique(rows[source != target], axis=0)
  tensors: list[list[tuple[int, list[int]]]] = [[] for _ in range(count)]
  waits = [0] * count
  last = None
  for unit, number, reader, size in rows.tolist():
    if number != last:
      tensors[unit].append((size, []))
      last = number
    tensors[unit][-1][1].append(reader)
    waits[reader] += 1
  return tensors, waits


def _links(
  problem: placement_problem.PlacementProblem, rates: Rates
) -> list[list[tuple[float, float]]]:
  """[D][D] of (latency seconds, bytes per second)."""
  count = len(problem.devices)
  default = (rates.link_latency_seconds, rates.link_bytes_per_second)
  table = [[default] * count for _ in range(count)]
  for link in problem.devices.links:
    table[link.source][link.target] = (
      link.latency_seconds,
      link.bytes_per_second,
    )
  return table
