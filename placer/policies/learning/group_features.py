"""What a network is told of the groups of a problem, as arrays.

Letters: `G` groups, `V` op types, `D` devices.

  type_counts: float32 `[G, V]`, ops of each type in a group; the `MOST_TYPES`
    most common types of the graph, those that are left in the last column.
  amounts: float32 `[G, A]`, not negative, that add up where groups are merged,
    as shares of the graph's total: seconds on each device (D columns, zeros
    without costs), flops, output bytes, persistent bytes, ops, bytes received,
    bytes sent.
  output_bytes: float32 `[G, 6]`, the largest tensors that leave a group,
    log10 of their bytes over 8; -1 where there are fewer (HP's padding).
  neighbours: float32 `[G, 12]`, up to 6 groups that it reads and 6 that read
    it, by bytes, as positions 0 … 1 in topological order; -1 padding (HP).
  adjacency: float32 `[G, G]`, 1 where the row's group is read by the column's.
  allowed: bool `[G, D]`.

Shapes are not known here, so sizes in bytes stand for the papers' output
shapes.
"""

import collections
import dataclasses

import numpy as np

from placer.core import placement_problem

MOST_TYPES = 200
_OUTPUTS = 6
_NEIGHBOURS = 6


@dataclasses.dataclass(frozen=True, eq=False)
class GroupFeatures:
  """See the module docstring."""

  type_counts: np.ndarray
  amounts: np.ndarray
  output_bytes: np.ndarray
  neighbours: np.ndarray
  adjacency: np.ndarray
  allowed: np.ndarray


def of_problem(problem: placement_problem.PlacementProblem) -> GroupFeatures:
  """The features of a problem with at least one group."""
  source, target, size = problem.group_edges
  count = problem.num_groups
  adjacency = np.zeros((count, count), np.float32)
  adjacency[source, target] = 1
  return GroupFeatures(
    type_counts=_type_counts(problem),
    amounts=_amounts(problem),
    output_bytes=_output_bytes(problem),
    neighbours=np.concatenate(
      [
        _nearest(target, source, size, count),
        _nearest(source, target, size, count),
      ],
      axis=1,
    ),
    adjacency=adjacency,
    allowed=problem.allowed,
  )


def _type_counts(problem) -> np.ndarray:
  types = problem.graph.types
  common = collections.Counter(types).most_common(MOST_TYPES)
  column = {name: i for i, (name, _) in enumerate(common)}
  counts = np.zeros((problem.num_groups, len(common) + 1), np.float32)
  columns = [column.get(name, len(common)) for name in types]
  np.add.at(counts, (problem.op_group, columns), 1)
  return counts


def _amounts(problem) -> np.ndarray:
  graph, costs = problem.graph, problem.costs
  if costs is None:
    seconds = np.zeros((len(graph), len(problem.devices)))
  else:
    seconds = costs.op_seconds * costs.op_runs[:, np.newaxis]
    seconds = np.where(np.isfinite(seconds), seconds, 0)
  per_op = np.column_stack(
    [
      seconds,
      graph.flops,
      graph.output_bytes,
      graph.persistent_bytes,
      np.ones(len(graph)),
    ]
  )
  source, target, size = problem.group_edges
  amounts = np.zeros((problem.num_groups, per_op.shape[1] + 2))
  np.add.at(amounts[:, :-2], problem.op_group, per_op)
  np.add.at(amounts[:, -2], target, size)
  np.add.at(amounts[:, -1], source, size)
  total = amounts.sum(axis=0)
  return (amounts / np.where(total > 0, total, 1)).astype(np.float32)


def _output_bytes(problem) -> np.ndarray:
  source, _, size = problem.group_edges
  largest = np.full((problem.num_groups, _OUTPUTS), -1, np.float32)
  filled = np.zeros(problem.num_groups, int)
  for edge in np.argsort(-size, kind='stable').tolist():
    group = source[edge]
    if filled[group] < _OUTPUTS:
      largest[group, filled[group]] = np.log10(1 + size[edge]) / 8
      filled[group] += 1
  return largest


def _nearest(group, other, size, count) -> np.ndarray:
  """Positions of the neighbours with the most bytes, float32 `[G, 6]`."""
  found = np.full((count, _NEIGHBOURS), -1, np.float32)
  filled = np.zeros(count, int)
  for edge in np.argsort(-size, kind='stable').tolist():
    row = group[edge]
    if filled[row] < _NEIGHBOURS:
      found[row, filled[row]] = other[edge] / max(count - 1, 1)
      filled[row] += 1
  return found
