"""What an engineer does by hand: layers, branches, and parts by their names.

Suggests each different split of `placer/policies/splits.py` over the
accelerators, or over all CPUs where there are none.
"""

from collections.abc import Sequence

import numpy as np

from placer.core import placement_problem
from placer.policies import base
from placer.policies import splits


class Expert(base.Policy):
  """Suggests each split by hand once; see the module docstring."""

  name = 'expert'
  summary = 'splits by hand: layers, parallel branches, parts by name'

  def __init__(
    self, problem: placement_problem.PlacementProblem, *, seed: int = 0
  ) -> None:
    super().__init__(problem, seed=seed)
    self._queue = suggestions(problem)

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    taken, self._queue = self._queue[:count], self._queue[count:]
    return taken


def suggestions(
  problem: placement_problem.PlacementProblem,
) -> list[base.Suggestion]:
  """The different splits; none that leaves all movable groups together."""
  devices = splits.fast_devices(problem)
  if len(devices) < 2 or not problem.num_groups:
    return []
  named = {
    'layers': splits.layer_split(problem, devices),
    'branches': splits.branch_split(problem, devices),
  }
  for kind, candidate in splits.name_splits(problem, devices).items():
    named[f'by {kind} name'] = candidate
  movable = problem.allowed.sum(axis=1) > 1
  found: dict[bytes, base.Suggestion] = {}
  for label, candidate in named.items():
    if len(np.unique(candidate[movable])) > 1:
      suggestion = base.Suggestion(candidate, f'expert {label}')
      found.setdefault(candidate.tobytes(), suggestion)
  return list(found.values())
