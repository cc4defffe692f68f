"""The Bound of a problem (`placer/core/bound.py`), by what its size allows.

    up to 4,096 placements                  all are simulated
    larger: windows (`window_bounds.py`), then, with a known placement, branch
      and bound over where groups are (`assignment_bound.py`); then CP-SAT
      (`schedule_program.py`) for up to 64 groups of 600 ops that run to their
      end
    very large                              critical path and work

each for a part of the time; what proved most is the bound. To bound a search on
groups, bound its coarse problem (`simulation/coarse.py`).
"""

import dataclasses

import numpy as np

from placer.core import bound as bound_lib
from placer.core import cost_model
from placer.core import errors
from placer.core import placement_problem
from placer.policies import assignment_bound
from placer.policies import local_search
from placer.policies import planning_costs
from placer.policies import planning_graph
from placer.policies import schedule_program
from placer.policies import window_bounds
from placer.simulation import signal_graph
from placer.simulation import simulator

Bound = bound_lib.Bound

_ALL_STATES = 4096
# What CP-SAT is given.
MOST_GROUPS = 64
MOST_OPS = 600
# Signals times pairs of devices, in which a PlanningGraph takes some 60 bytes.
_MOST_STAGES = 4_000_000
_PART_OF_WINDOWS = 0.2
_PART_OF_BRANCHES = 0.7
# CP-SAT takes that long to begin.
_LEAST_SECONDS_OF_PROGRAM = 1.0
# The simulator adds the same times in another order.
_ROUNDING = 1 + 1e-9


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
    seconds: in all, about; 0 for paths and work only. The first branch and
      bound on a machine takes 10 s more, to be compiled.
    known: int32 `[G]`, a placement that runs; the better it is, the more is
      proved. None: windows only.
    workers: threads of CP-SAT.

  Returns:
    The Bound; without OR-Tools that of the rest.
  """
  costs = planning_costs.of_problem(problem)
  if is_tiny(problem.allowed):
    states = local_search.all_states(problem.allowed)
    batch = simulator.simulate(problem, costs, states)
    best = batch.step_time_seconds[batch.feasible].min(initial=np.inf)
    return Bound(float(best), 'all placements')
  stages = len(problem.graph.tensor_bytes) * len(problem.devices) ** 2
  if stages > _MOST_STAGES:
    return _of_large(problem, costs)
  graph = planning_graph.build(problem, costs)
  windows = window_bounds.windows(graph, _PART_OF_WINDOWS * seconds)
  bound = Bound(windows.seconds, windows.method)
  if seconds <= 0 or known is None:
    return bound
  batch = simulator.simulate(problem, costs, np.asarray(known)[np.newaxis])
  if not batch.feasible[0]:
    return bound
  step = float(batch.unbounded_seconds[0])
  bound = _larger(
    bound,
    assignment_bound.search(
      graph,
      windows,
      costs.memory_bytes,
      step,
      assignment_bound.SearchLimits(seconds=_PART_OF_BRANCHES * seconds),
    ),
    'branch and bound',
  )
  left = seconds * (1 - _PART_OF_WINDOWS - _PART_OF_BRANCHES)
  is_proved = bound.seconds * _ROUNDING**2 >= step
  if (
    is_proved
    # In the program ops run to their end.
    or costs.takes_turns
    or is_too_large(graph)
    or left < _LEAST_SECONDS_OF_PROGRAM
  ):
    return bound
  try:
    solution = schedule_program.solve(
      graph,
      dataclasses.replace(windows, seconds=bound.seconds),
      costs.memory_bytes,
      known,
      step,
      schedule_program.SolverLimits(seconds=left, workers=workers),
    )
  except errors.UsageError:
    # OR-Tools is not installed; the bound holds without it.
    return bound
  return _larger(bound, solution.bound_seconds, 'CP-SAT')


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


def _larger(bound: Bound, seconds: float, method: str) -> Bound:
  """The bound, or another one that is larger by more than rounding."""
  if seconds > bound.seconds * _ROUNDING:
    return Bound(seconds, method)
  return bound


def _of_large(
  problem: placement_problem.PlacementProblem, costs: cost_model.CostModel
) -> Bound:
  """Critical path and work, whatever the size."""
  runs = costs.op_runs
  hold = costs.op_seconds.min(axis=1) * runs
  hold = np.where(np.isfinite(hold), hold, 0.0)
  work = float(hold.sum() / costs.concurrency.sum())
  signals = signal_graph.build(problem.graph)
  source = np.repeat(signals.source, np.diff(signals.first_reader)).tolist()
  ends = hold.tolist()
  own = hold.tolist()
  order = np.argsort(signals.readers, kind='stable').tolist()
  readers = signals.readers.tolist()
  for edge in order:
    start, end = source[edge], readers[edge]
    ends[end] = max(ends[end], ends[start] + own[end])
  path = max(ends, default=0.0)
  if path >= work:
    return Bound(path / _ROUNDING, 'critical path')
  return Bound(work / _ROUNDING, 'work')
