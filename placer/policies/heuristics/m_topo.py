"""m-TOPO: memory-balanced topological order (Baechi, SoCC 2020, §3.1).

Groups in topological order fill one device after the other: each takes groups
until the next one would exceed its share of memory, which is that of all
groups divided by the devices, plus the largest group's. A group that may not
be on the device whose turn it is goes to the next one that it may use.
"""

from collections.abc import Sequence

import numpy as np

from placer.policies import list_planner
from placer.policies import planner
from placer.policies import planning_model


class MTopo(planner.Planner):
  """Suggests one candidate; see the module docstring."""

  name = 'm_topo'
  summary = 'Baechi: groups in topological order, equal memory a device'

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    graph = list_planner.on_accelerators(model)
    limits = model.coarse.cost_model.memory_bytes
    return [
      _fill(sizes, limits, graph.allowed)
      for sizes in list_planner.group_bytes(graph)
    ]


def _fill(
  sizes: np.ndarray, limits: np.ndarray, allowed: np.ndarray
) -> np.ndarray:
  devices = len(limits)
  share = int(sizes.sum()) // devices + int(sizes.max(initial=0))
  caps = [min(share, int(limit)) for limit in limits]
  used = [0] * devices
  turn, placed = 0, []
  for group, size in enumerate(sizes.tolist()):
    while turn < devices - 1 and used[turn] + size > caps[turn]:
      turn += 1
    turns = [*range(turn, devices), *range(turn)]
    device = next(d for d in turns if allowed[group, d])
    used[device] += size
    placed.append(device)
  return np.array(placed, np.int32)
