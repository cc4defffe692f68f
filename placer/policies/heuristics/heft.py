"""HEFT: heterogeneous earliest finish time (Topcuoglu et al. 2002).

Ops in the order of their upward rank, the longest way to the end first; each
goes where it ends first, into an idle time between other ops if there is one.
Devices without enough memory for the op's group are left out.
"""

from collections.abc import Sequence

import numpy as np

from placer.policies import list_planner
from placer.policies import list_schedule
from placer.policies import planner
from placer.policies import planning_model


class Heft(planner.Planner):
  """Suggests one candidate; see the module docstring."""

  name = 'heft'
  summary = 'earliest finish time, longest way to the end first'

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    graph = model.graph
    # An op never ranks below its readers; equal ones keep their order.
    order = np.argsort(-list_planner.upward_ranks(graph), kind='stable')

    def schedule(step: list_schedule.ListSchedule) -> None:
      for op in order.tolist():
        ends = {
          d: step.start_seconds(op, d, insert=True) + graph.hold_seconds[op, d]
          for d in step.choices(op)
        }
        step.place(op, min(ends, key=ends.__getitem__), insert=True)

    return list_planner.candidates(model, schedule)
