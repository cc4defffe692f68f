"""Planner: a Policy that plans on the cost model and suggests the result.

    class MyPlanner(planner.Planner):
      name = 'my_planner'
      summary = '…'
      def plan(self, model): return [candidate, …]

It plans when it is first asked. What it suggests is the best of its candidates
in the simulation, the next best ones after it, at most `max_suggestions`; the
label has the predicted step time, or why the model says that it won't run (the
model may be wrong: only a measurement decides). It learns nothing from trials;
what the devices say against the model is for those that measure.
"""

import abc
from collections.abc import Sequence

import numpy as np

from placer.policies import base
from placer.policies import planning_model


class Planner(base.Policy):
  """Suggests what it planned; see the module docstring.

  Attributes:
    max_suggestions: how many candidates it suggests in all.
  """

  max_suggestions = 1

  _queue: list[base.Suggestion] | None = None

  @abc.abstractmethod
  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    """Plans.

    Args:
      model: of the policy's problem, which has at least one group.

    Returns:
      Legal candidates int32 `[G]`, in any order.
    """

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    if count < 1:
      return []
    if self._queue is None:
      self._queue = self._planned()
    taken, self._queue = self._queue[:count], self._queue[count:]
    return taken

  def label(self, found: planning_model.Prediction) -> str:
    """What a suggestion is called.

    Args:
      found: what the model says of it.

    Returns:
      The policy's name and the predicted step time, or why there is none.
    """
    if found.step_time_seconds is None:
      said = found.status.value.replace('_', ' ')
    else:
      said = f'{found.step_time_seconds:.4g} s'
    return f'{self.name}, predicted {said}'

  def _planned(self) -> list[base.Suggestion]:
    if not self.problem.num_groups:
      return [base.Suggestion(np.zeros(0, np.int32), self.name)]
    model = planning_model.PlanningModel(self.problem)
    return [
      base.Suggestion(found.candidate, self.label(found))
      for found in model.predict(self.plan(model))[: self.max_suggestions]
    ]
