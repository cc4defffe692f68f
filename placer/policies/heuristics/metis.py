"""METIS: minimum cut of the group graph (Karypis and Kumar; "MinCut").

The hierarchical planner's and others' baseline: parts of equal time, by the
speed of the devices, with as few bytes between them as may be
(`graph_partition.py`).
"""

from collections.abc import Sequence

import numpy as np

from placer.core import errors
from placer.core import placement_problem
from placer.policies import graph_partition
from placer.policies import planner
from placer.policies import planning_model


class Metis(planner.Planner):
  """Suggests one candidate; see the module docstring."""

  name = 'metis'
  summary = 'minimum cut by METIS: equal work, few bytes between devices'

  def __init__(
    self, problem: placement_problem.PlacementProblem, *, seed: int = 0
  ) -> None:
    super().__init__(problem, seed=seed)
    self._seed = seed

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    allowed = model.graph.allowed
    parts = np.zeros(len(allowed), np.int64)
    # METIS wants at least as many vertices as parts.
    if 1 < model.graph.num_devices <= len(allowed):
      parts = _cut(graph_partition.build(model), self._seed)
    return [graph_partition.candidate(parts, allowed)]


def _cut(graph: graph_partition.WeightedGraph, seed: int) -> np.ndarray:
  """The part of each vertex."""
  try:
    import pymetis
  except ImportError as error:
    raise errors.UsageError(
      '--policy=metis needs pymetis: pip install pymetis.'
    ) from error
  _, parts = pymetis.part_graph(
    len(graph.device_weights),
    pymetis.CSRAdjacency(graph.first.tolist(), graph.neighbours.tolist()),
    vweights=graph.vertex_weights.tolist(),
    eweights=graph.edge_weights.tolist(),
    tpwgts=graph.device_weights.tolist(),
    options=pymetis.Options(seed=seed % 2**31),
  )
  return np.asarray(parts, np.int64)
