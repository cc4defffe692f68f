"""What a learner's placements come to: simulated, by graph.

    evaluator = Simulated(problems)
    outcomes = evaluator(graph, candidates)     # Outcomes of int32 [B, G]

Anything that is called like this evaluates; real devices do by a Measurer.
"""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from placer.core import placement_problem
from placer.policies.heuristics import single_device
from placer.policies.learning import rewards
from placer.simulation import simulator

Evaluator = Callable[[int, np.ndarray], rewards.Outcomes]


class Simulated:
  """Simulates placements of P graphs, op by op, all of a call at once."""

  def __init__(
    self, problems: Sequence[placement_problem.PlacementProblem]
  ) -> None:
    """Prepares.

    Args:
      problems: each with costs.

    Raises:
      ValueError: one has none.
    """
    if any(problem.costs is None for problem in problems):
      raise ValueError('A problem without costs cannot be simulated.')
    self._problems = problems

  def __call__(self, graph: int, candidates: np.ndarray) -> rewards.Outcomes:
    """The Outcomes of int32 `[B, G]` candidates of one graph."""
    return rewards.of_simulation(self._simulator(graph).simulate(candidates))

  @functools.cache  # noqa: B019 - as long-lived as the object
  def _simulator(self, graph: int) -> simulator.Simulator:
    problem = self._problems[graph]
    return simulator.Simulator(problem, problem.costs)


def reference_seconds(
  problem: placement_problem.PlacementProblem,
  evaluator: Evaluator,
  graph: int = 0,
) -> float:
  """The step on the best single device, the unit of rewards.

  Args:
    problem: the graph, with at least one group.
    evaluator: of it.
    graph: its index there.

  Returns:
    Seconds, positive: the fastest that runs; if none does, the fastest if
    memory had no limit; 1 where nothing takes any time.
  """
  found = single_device.suggestions(problem)
  outcomes = evaluator(graph, np.stack([each.candidate for each in found]))
  seconds = outcomes.step_seconds
  if outcomes.feasible.any():
    seconds = seconds[outcomes.feasible]
  best = float(np.min(seconds))
  return best if 0 < best < np.inf else 1.0
