"""m-ETF: memory-constrained earliest task first (Baechi, SoCC 2020, §3.2).

Of all ready ops and all devices with enough memory for their group, the pair
that can start first is taken, until every op is placed. Unlike in the paper a
transfer waits for its channel, an op of a group that was bound already goes
where that is, and where there are accelerators, CPUs are for the rest only.
"""

from collections.abc import Sequence

import numpy as np

from placer.policies import list_planner
from placer.policies import planner
from placer.policies import planning_model


class MEtf(planner.Planner):
  """Suggests one candidate; see the module docstring."""

  name = 'm_etf'
  summary = 'Baechi: memory-constrained earliest task first'

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    graph = list_planner.on_accelerators(model)
    return list_planner.candidates(
      model, graph, lambda step: list_planner.earliest_first(graph, step)
    )
