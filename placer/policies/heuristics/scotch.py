"""Scotch: static mapping of the group graph (Pellegrini; papers' baseline).

ColocRL, the hierarchical planner and Placeto compare with it. It balances the
time of groups over the devices, by their speed, and keeps the bytes between
devices small; that ops wait for each other it does not know
(`graph_partition.py`).
"""

import contextlib
import io
from collections.abc import Sequence

import numpy as np

from placer.core import errors
from placer.core import placement_problem
from placer.policies import graph_partition
from placer.policies import planner
from placer.policies import planning_model


class Scotch(planner.Planner):
  """Suggests one candidate; see the module docstring."""

  name = 'scotch'
  summary = 'static mapping by Scotch: equal work, few bytes between devices'

  def __init__(
    self, problem: placement_problem.PlacementProblem, *, seed: int = 0
  ) -> None:
    super().__init__(problem, seed=seed)
    self._seed = seed

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    allowed = model.graph.allowed
    parts = np.zeros(len(allowed), np.int64)
    if model.graph.num_devices > 1 and len(allowed) > 1:
      parts = _map(graph_partition.build(model), self._seed)
    return [graph_partition.candidate(parts, allowed)]


def _map(graph: graph_partition.WeightedGraph, seed: int) -> np.ndarray:
  """The device of each vertex."""
  try:
    # It prints where it found its library.
    with contextlib.redirect_stdout(io.StringIO()):
      with contextlib.redirect_stderr(io.StringIO()):
        import pyscotch

        dtype = pyscotch.get_scotch_dtype()
  except ImportError as error:
    raise errors.UsageError(
      '--policy=scotch needs pyscotch: pip install pyscotch.'
    ) from error
  pyscotch.random_seed(seed % 2**31)
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
