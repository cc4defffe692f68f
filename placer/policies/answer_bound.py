"""How far from the best the answer of a search is at most, in the model.

The model is the problem with its costs as the simulator runs them: what it
predicts for the answer, and a step that no placement of the same groups is
below. Both are of the model, also where the step of the answer was measured.
"""

import dataclasses

import numpy as np

from placer.core import search_result
from placer.policies import lower_bound
from placer.policies import planning_costs
from placer.simulation import simulator


def add(
  result: search_result.SearchResult, seconds: float
) -> search_result.SearchResult:
  """Adds what the model says of the answer.

  Args:
    result: of a search.
    seconds: that this may take, about.

  Returns:
    The result with `predicted_seconds` and `bound`.
  """
  problem, candidate = result.problem, result.chosen.candidate
  costs = planning_costs.of_problem(problem)
  batch = simulator.simulate(problem, costs, candidate[np.newaxis])
  predicted = float(batch.unbounded_seconds[0]) if batch.feasible[0] else None
  return dataclasses.replace(
    result,
    predicted_seconds=predicted,
    bound=lower_bound.lower_bound(
      problem, seconds, known=None if predicted is None else candidate
    ),
  )
