"""CoarseProblem: a problem whose ops are the groups of another.

It takes the same candidates and is simulated tens of times faster.

Letters: `N` ops, `G` groups, `U` units (`units.py`: as a rule one a group).

  problem: PlacementProblem of U ops in the same G groups, with costs.
  cost_model: its costs.
  op_unit: int32 `[N]`, the unit that an op of the original is in.

What is kept: the time of all ops on each device (one device gives the step of
the original), every tensor that crosses units with its bytes, its sends and
its kind of memory, persistent memory.

What is approximate:
* a unit starts when all its inputs are there and gives its outputs when all of
  it has run, and no other op runs between its ops, also where the device has
  several slots: a step comes out longer, rarely shorter;
* control edges between two units are one signal, or none beside a tensor;
* memory: outputs are held from the unit's start, inputs to its end; what stays
  inside a unit counts with its peak when the ops run one after the other; a
  tensor that shares a buffer counts with that buffer's bytes.
"""

import dataclasses

import numpy as np

from placer.core import cost_model as cost_model_lib
from placer.core import op_graph
from placer.core import placement_problem
from placer.simulation import units as units_lib


@dataclasses.dataclass(frozen=True, eq=False)
class CoarseProblem:
  """A problem of units; see the module docstring."""

  problem: placement_problem.PlacementProblem
  cost_model: cost_model_lib.CostModel
  op_unit: np.ndarray


def coarse_problem(
  problem: placement_problem.PlacementProblem,
  cost_model: cost_model_lib.CostModel,
) -> CoarseProblem:
  """Makes one op of each group.

  Args:
    problem: G groups of N ops.
    cost_model: of the same graph and devices.

  Returns:
    The CoarseProblem.
  """
  graph = problem.graph
  unit = units_lib.of_ops(graph, problem.op_group)
  count = int(unit.max(initial=-1)) + 1
  edges = _Edges(graph, unit)
  coarse_graph = _graph(problem, unit, count, edges)
  unit_group = np.zeros(count, np.int32)
  unit_group[unit] = problem.op_group
  costs = _costs(graph, cost_model, unit, count, edges)
  return CoarseProblem(
    problem=dataclasses.replace(
      problem, graph=coarse_graph, op_group=unit_group, costs=costs
    ),
    cost_model=costs,
    op_unit=unit,
  )


class _Edges:
  """The edges between units.

  Attributes:
    tensors: int64 `[K]`, the original's tensors that cross, by unit.
    source, target: int64 `[F]`, units.
    tensor: int64 `[F]`, position in `tensors`, or -1 for control.
  """

  def __init__(self, graph: op_graph.OpGraph, unit: np.ndarray) -> None:
    keep = ~graph.edge_is_back
    source = unit[graph.edge_source[keep]].astype(np.int64)
    target = unit[graph.edge_target[keep]].astype(np.int64)
    tensor = graph.edge_tensor[keep].astype(np.int64)
    rows = np.stack([source, tensor, target])[:, source != target]
    rows = np.unique(rows, axis=1)
    data, control = rows[:, rows[1] >= 0], rows[:, rows[1] < 0]
    span = int(unit.max(initial=0)) + 1
    needless = np.isin(control[0] * span + control[2], data[0] * span + data[2])
    control = control[:, ~needless]
    # By unit, then by tensor, as the tensors of an OpGraph have to be.
    pairs, position = np.unique(data[:2], axis=1, return_inverse=True)
    self.tensors = pairs[1]
    self.source = np.concatenate([data[0], control[0]])
    self.target = np.concatenate([data[2], control[2]])
    self.tensor = np.concatenate([position.reshape(-1), control[1]])


def _graph(problem, unit, count, edges) -> op_graph.OpGraph:
  graph = problem.graph
  # The costliest op of each unit stands for it.
  order = np.lexsort((-graph.flops, unit))
  best = order[np.searchsorted(unit[order], np.arange(count))]
  return op_graph.OpGraph(
    names=tuple(graph.names[op] for op in best.tolist()),
    types=tuple(graph.types[op] for op in best.tolist()),
    tensor_source=unit[graph.tensor_source[edges.tensors]],
    tensor_bytes=graph.tensor_bytes[edges.tensors],
    tensor_shape_known=graph.tensor_shape_known[edges.tensors],
    edge_source=edges.source.astype(np.int32),
    edge_target=edges.target.astype(np.int32),
    edge_tensor=edges.tensor.astype(np.int32),
    edge_is_back=np.zeros(len(edges.source), bool),
    flops=np.bincount(unit, graph.flops, minlength=count),
    persistent_bytes=_sum(unit, graph.persistent_bytes, count),
    original_devices=tuple(graph.original_devices[op] for op in best.tolist()),
  )


def _costs(graph, costs, unit, count, edges) -> cost_model_lib.CostModel:
  runs = costs.op_runs[:, np.newaxis]
  total = _sum(unit, (costs.op_seconds + costs.gap_seconds) * runs, count)
  # The results are out before the gap of the last op.
  last = np.zeros(count, np.int64)
  last[unit] = np.arange(len(unit))
  gap = costs.gap_seconds[last]
  with np.errstate(invalid='ignore'):
    seconds = np.where(np.isinf(total), np.inf, np.maximum(total - gap, 0))
  buffers = _buffer_bytes(costs)
  return dataclasses.replace(
    costs,
    op_seconds=seconds,
    gap_seconds=gap,
    op_runs=np.ones(count, np.int64),
    temporary_bytes=_peak_inside(graph, costs, unit, count, edges),
    resident_bytes=buffers[edges.tensors],
    shares_tensor=np.full(len(edges.tensors), -1, np.int32),
    host_output=costs.host_output[edges.tensors],
    tensor_sends=costs.tensor_sends[edges.tensors],
  )


def _sum(unit: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
  result = np.zeros((count, *values.shape[1:]), values.dtype)
  np.add.at(result, unit, values)
  return result


def _buffer_bytes(costs: cost_model_lib.CostModel) -> np.ndarray:
  """int64 `[T]`: the bytes of the buffer that each tensor lies in."""
  sizes = costs.resident_bytes.copy()
  sharing = np.flatnonzero(costs.shares_tensor >= 0)
  # A shared tensor comes before those that share it.
  for tensor in sharing.tolist():
    sizes[tensor] = sizes[costs.shares_tensor[tensor]]
  return sizes


def _peak_inside(graph, costs, unit, count, edges) -> np.ndarray:
  """int64 `[U]`: the most bytes of temporaries and inner tensors at once."""
  # Ops by unit, those of a unit one after the other.
  order = np.lexsort((np.arange(len(unit)), unit))
  position = np.empty(len(unit), np.int64)
  position[order] = np.arange(len(unit))
  end = position[graph.tensor_source]
  data = np.flatnonzero((graph.edge_tensor >= 0) & ~graph.edge_is_back)
  tensor = graph.edge_tensor[data]
  is_inner = np.ones(len(end), bool)
  is_inner[edges.tensors] = False
  np.maximum.at(
    end,
    tensor[is_inner[tensor]],
    position[graph.edge_target[data][is_inner[tensor]]],
  )
  for sharing in np.flatnonzero(costs.shares_tensor >= 0)[::-1].tolist():
    shared = costs.shares_tensor[sharing]
    if is_inner[shared]:
      end[shared] = max(end[shared], end[sharing])
  # A buffer that a crossing tensor shares counts there, too.
  taken = np.zeros(len(unit) + 1, np.int64)
  sizes = np.where(is_inner, costs.resident_bytes, 0)
  np.add.at(taken, position[graph.tensor_source], sizes)
  np.subtract.at(taken, np.minimum(end + 1, len(unit)), sizes)
  live = np.cumsum(taken)[:-1] + costs.temporary_bytes[order]
  result = np.zeros(count, np.int64)
  np.maximum.at(result, unit[order], live)
  return result
