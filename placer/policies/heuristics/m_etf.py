"""m-ETF: memory-constrained earliest task first (Baechi, SoCC 2020, §3.2).

Of all ready ops and all devices with enough memory for their group, the pair
that can start first is taken, until every op is placed. Unlike in the paper a
transfer waits for its channel, and an op of a group that was bound already goes
where that is.
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
    return list_planner.candidates(
      model, lambda step: list_planner.earliest_first(model.graph, step)
    )
