"""Everything on one device: the answer that every other has to beat.

For each device, in their order: all groups that may use it are on it. Groups
that may not (a GPU has no kernel for strings) are where they must be; of
several such devices the one that most of them can share. The label says how
many ops that leaves elsewhere.
"""

from collections.abc import Sequence

import numpy as np

from placer.core import device
from placer.core import placement_problem
from placer.policies import base


class SingleDevice(base.Policy):
  """Suggests one candidate a device; see the module docstring."""

  name = 'single_device'
  summary = 'everything on one device, each device in turn'

  def __init__(
    self, problem: placement_problem.PlacementProblem, *, seed: int = 0
  ) -> None:
    super().__init__(problem, seed=seed)
    self._queue = suggestions(problem)

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    taken, self._queue = self._queue[:count], self._queue[count:]
    return taken


def candidate(
  problem: placement_problem.PlacementProblem, index: int
) -> np.ndarray:
  """Everything on one device that may be there.

  Args:
    problem: G groups on D devices.
    index: the device's.

  Returns:
    int32 `[G]`, legal.
  """
  placed = np.full(problem.num_groups, index, np.int32)
  rest = ~problem.allowed[:, index]
  while rest.any():
    other = int(problem.allowed[rest].sum(axis=0).argmax())
    placed[rest & problem.allowed[:, other]] = other
    rest &= ~problem.allowed[:, other]
  return placed


def suggestions(
  problem: placement_problem.PlacementProblem,
) -> list[base.Suggestion]:
  """One Suggestion for each device that any group may use, no two equal."""
  found: dict[bytes, base.Suggestion] = {}
  for index, name in enumerate(_short_names(problem.devices)):
    if problem.num_groups and not problem.allowed[:, index].any():
      continue
    placed = candidate(problem, index)
    elsewhere = int((placed[problem.op_group] != index).sum())
    label = f'single_device {name}'
    if elsewhere:
      label += f' (+{elsewhere} ops elsewhere)'
    found.setdefault(placed.tobytes(), base.Suggestion(placed, label))
  return list(found.values())


def _short_names(topology: device.DeviceTopology) -> list[str]:
  """Device names without what is the same for all, as far as they differ."""
  names = [place.short_name for place in topology.devices]
  heads = [name.rpartition('/device:')[0] for name in names]
  if len(set(heads)) == len(names) > 1:
    return heads
  jobs = {name.split('/')[1] for name in names}
  tails = ['/' + name.split('/', 2)[-1] for name in names]
  return tails if len(names) > 1 and len(jobs) == 1 else names
