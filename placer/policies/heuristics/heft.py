"""HEFT: heterogeneous earliest finish time (Topcuoglu et al. 2002).

Ops in the order of their upward rank, the longest way to the end first; each
goes where it ends first, into an idle time between other ops if there is one.
The first op of a group takes all of the group along, so that it goes where its
group would end first, were it run at once. Devices without enough memory for
the group are left out.
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
    whole = np.zeros(graph.allowed.shape)
    np.add.at(whole, graph.group, graph.hold_seconds)

    def schedule(step: list_schedule.ListSchedule) -> None:
      for op in order.tolist():
        ends = {
          d: step.start_seconds(op, d, insert=True) + whole[graph.group[op], d]
          for d in step.choices(op)
        }
        step.place(op, min(ends, key=ends.__getitem__), insert=True)

    return list_planner.candidates(model, graph, schedule)
