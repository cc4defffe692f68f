"""Bound: a step time that no placement of a problem can beat, and why.

  seconds: in the simulation on the problem's costs, op by op, no placement that
    runs takes less.
  method: 'all placements' (each was simulated), 'windows' (paths and work,
    `window_bounds.py`) or 'program' (CP-SAT, `schedule_program.py`).

A bound tells how far from the best an answer can be at most. It may lie far
below the best step itself: it knows neither that ops run in the order in which
they become ready nor, on large problems, that transfers wait for one another.
To bound a search on groups, bound its coarse problem (`simulation/coarse.py`).
"""

import dataclasses

import numpy as np

from placer.core import placement_problem
from placer.policies import local_search
from placer.policies import planning_costs
from placer.policies import planning_graph
from placer.policies import schedule_program
from placer.policies import window_bounds
from placer.simulation import simulator

_ALL_STATES = 4096
# What CP-SAT is given.
MOST_GROUPS = 64
MOST_OPS = 600


@dataclasses.dataclass(frozen=True)
class Bound:
  """What no placement can beat; see the module docstring."""

  seconds: float
  method: str

  def gap(self, step_time_seconds: float) -> float:
    """How far above the bound a step is at most from the best: 0.05 is 5 %."""
    if self.seconds <= 0:
      return 0.0 if step_time_seconds <= 0 else np.inf
    return step_time_seconds / self.seconds - 1


def lower_bound(
  problem: placement_problem.PlacementProblem,
  seconds: float = 60.0,
  *,
  known: np.ndarray | None = None,
  workers: int = 2,
) -> Bound:
  """Bounds the steps of all placements.

  Args:
    problem: G groups of N ops; its costs, or assumed ones.
    seconds: for CP-SAT, which is used for up to 64 groups of 600 ops; 0 leaves
      it out.
    known: int32 `[G]`, a placement that runs; the better it is, the faster the
      program is solved. None: without the program.
    workers: threads of CP-SAT.

  Returns:
    The Bound.

  Raises:
    UsageError: OR-Tools is needed and not installed.
  """
  costs = planning_costs.of_problem(problem)
  graph = planning_graph.build(problem, costs)
  if is_tiny(graph.allowed):
    states = local_search.all_states(graph.allowed)
    batch = simulator.simulate(problem, costs, states)
    best = batch.step_time_seconds[batch.feasible].min(initial=np.inf)
    return Bound(float(best), 'all placements')
  windows = window_bounds.windows(graph)
  bound = Bound(windows.seconds, 'windows')
  if seconds <= 0 or known is None or is_too_large(graph):
    return bound
  batch = simulator.simulate(problem, costs, np.asarray(known)[np.newaxis])
  if not batch.feasible[0]:
    return bound
  solution = schedule_program.solve(
    graph,
    windows,
    costs.memory_bytes,
    known,
    float(batch.unbounded_seconds[0]),
    schedule_program.SolverLimits(seconds=seconds, workers=workers),
  )
  if solution.bound_seconds > bound.seconds:
    bound = Bound(solution.bound_seconds, 'program')
  return bound


def is_too_large(graph: planning_graph.PlanningGraph) -> bool:
  """Whether CP-SAT would not get anywhere.

  Args:
    graph: N ops in G groups.
  """
  return len(graph.allowed) > MOST_GROUPS or len(graph) > MOST_OPS


def is_tiny(allowed: np.ndarray) -> bool:
  """Whether all placements can be simulated.

  Args:
    allowed: bool `[G, D]`.
  """
  return np.log2(allowed.sum(axis=1)).sum() <= np.log2(_ALL_STATES)
