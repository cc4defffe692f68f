"""PartitionPlanner: a planner that cuts the group graph into parts.

    class MyPartitioner(partition_planner.PartitionPlanner):
      name = 'my_partitioner'
      summary = '…'
      def partition(self, graph, seed): return parts

What is cut is `graph_partition.py`'s graph; a part is a device.
"""

import abc
from collections.abc import Sequence

import numpy as np

from placer.core import placement_problem
from placer.policies import graph_partition
from placer.policies import planner
from placer.policies import planning_model


class PartitionPlanner(planner.Planner):
  """Suggests one candidate; see the module docstring."""

  def __init__(
    self, problem: placement_problem.PlacementProblem, *, seed: int = 0
  ) -> None:
    super().__init__(problem, seed=seed)
    self._seed = seed

  @abc.abstractmethod
  def partition(
    self, graph: graph_partition.WeightedGraph, seed: int
  ) -> np.ndarray:
    """Cuts a graph.

    Args:
      graph: G vertices, at least 2; D devices, at least 2.
      seed: below 2^31.

    Returns:
      int64 `[G]`, the part, below D, of each vertex.

    Raises:
      UsageError: the package that does it is not installed.
    """

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    allowed = model.graph.allowed
    parts = np.zeros(len(allowed), np.int64)
    if model.graph.num_devices > 1 and len(allowed) > 1:
      parts = self.partition(graph_partition.build(model), self._seed % 2**31)
    return [placement_problem.nearest_legal(parts, allowed)]
