"""METIS: minimum cut of the group graph (Karypis and Kumar; "MinCut").

The hierarchical planner's and others' baseline: parts of equal time, by the
speed of the devices, with as few bytes between them as may be
(`graph_partition.py`).
"""

import numpy as np

from placer.core import errors
from placer.policies import graph_partition
from placer.policies import partition_planner


class Metis(partition_planner.PartitionPlanner):
  """Suggests one candidate; see the module docstring."""

  name = 'metis'
  summary = 'minimum cut by METIS: equal work, few bytes between devices'

  def partition(
    self, graph: graph_partition.WeightedGraph, seed: int
  ) -> np.ndarray:
    # METIS wants at least as many vertices as parts.
    if len(graph.vertex_weights) < len(graph.device_weights):
      return np.arange(len(graph.vertex_weights))
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
      options=pymetis.Options(seed=seed),
    )
    return np.asarray(parts, np.int64)
