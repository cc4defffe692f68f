"""Scotch: static mapping of the group graph (Pellegrini; papers' baseline).

ColocRL, the hierarchical planner and Placeto compare with it. It balances the
time of groups over the devices, by their speed, and keeps the bytes between
devices small; that ops wait for each other it does not know
(`graph_partition.py`).
"""

import contextlib
import io
from types import ModuleType

import numpy as np

from placer.core import errors
from placer.policies import graph_partition
from placer.policies import partition_planner


class Scotch(partition_planner.PartitionPlanner):
  """Suggests one candidate; see the module docstring."""

  name = 'scotch'
  summary = 'static mapping by Scotch: equal work, few bytes between devices'

  def partition(
    self, graph: graph_partition.WeightedGraph, seed: int
  ) -> np.ndarray:
    pyscotch = _pyscotch()
    dtype = pyscotch.get_scotch_dtype()
    pyscotch.random_seed(seed)
    pyscotch.random_reset()
    devices = len(graph.device_weights)
    weights = np.round(1000 * graph.device_weights / graph.device_weights.min())
    with pyscotch.Graph() as vertices, pyscotch.Architecture() as target:
      vertices.build(
        graph.first.astype(dtype),
        graph.neighbours.astype(dtype),
        graph.vertex_weights.astype(dtype),
        graph.edge_weights.astype(dtype),
      )
      target.complete_weighted(devices, weights.astype(dtype))
      return np.asarray(vertices.map(target), np.int64)


def _pyscotch() -> ModuleType:
  try:
    # It prints where it found its library.
    with contextlib.redirect_stdout(io.StringIO()):
      with contextlib.redirect_stderr(io.StringIO()):
        import pyscotch

        pyscotch.get_scotch_dtype()
  except ImportError as error:
    raise errors.UsageError(
      '--policy=scotch needs pyscotch: pip install pyscotch.'
    ) from error
  return pyscotch
