"""Placements that learning may start from: those of cheap policies."""

from collections.abc import Sequence

import numpy as np

from placer.core import placement_problem
from placer.policies import registry

_MOST_SUGGESTIONS = 8


def candidates(
  problem: placement_problem.PlacementProblem,
  policies: Sequence[str],
  seed: int = 0,
) -> np.ndarray:
  """What policies suggest, each asked once.

  Args:
    problem: G groups.
    policies: their names; () for none.
    seed: of the policies.

  Returns:
    int32 `[B, G]`, legal, no two equal, in the order of the policies.
  """
  found: dict[bytes, np.ndarray] = {}
  for name in policies:
    policy = registry.make(name, problem, seed=seed)
    for suggestion in policy.suggest(_MOST_SUGGESTIONS):
      found.setdefault(suggestion.candidate.tobytes(), suggestion.candidate)
  rows = list(found.values())
  return np.array(rows, np.int32).reshape(len(rows), problem.num_groups)
