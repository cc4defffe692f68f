"""m-SCT: memory-constrained small communication times (Baechi, SoCC 2020).

As in §3.3, each op gets at most one *favourite child*, which should run right
after it on its device, and is the favourite of at most one op. They come from
the linear program of Hanen and Munier, relaxed and solved by OR-Tools' GLOP:
x = 0 on an edge makes its target the favourite child,

    minimise w over starts t >= 0 and x in [0, 1] on edges, where
    t_j >= t_i + p_i + c_ij x_ij       on each edge,   w >= t_i + p_i,
    sum_j x_ij >= readers of i - 1,    sum_i x_ij >= sources of j - 1,

with the times p and c of the fastest device and link; edges with x < 0.1 are
favourites, as in Baechi. The schedule is m-ETF's, but a device that ran an op
whose favourite child is still to come is kept for that child: others count as
starting later there by the time that the child would take to come elsewhere.
Where the program is not solved within 10 s, no op has a favourite.
"""

from collections.abc import Sequence

import numpy as np

from placer.core import errors
from placer.policies import list_planner
from placer.policies import list_schedule
from placer.policies import planner
from placer.policies import planning_graph
from placer.policies import planning_model

_FAVOURITE_BELOW = 0.1
_SECONDS = 10


class MSct(planner.Planner):
  """Suggests one candidate; see the module docstring."""

  name = 'm_sct'
  summary = 'Baechi: small communication times, favourite children together'

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    graph = list_planner.on_accelerators(model)
    children = favourite_children(graph)

    def schedule(step: list_schedule.ListSchedule) -> None:
      # The op that ran last on a device, if it has a favourite child.
      last: dict[int, int] = {}

      def delayed(op: int, device: int, start: float) -> float:
        parent = last.get(device)
        if parent is None:
          return start
        child, seconds = children[parent]
        if child == op or step.device[child] >= 0:
          return start
        return max(start, step.end_seconds[parent] + seconds)

      def placed(op: int, device: int) -> None:
        last.pop(device, None)
        if op in children:
          last[device] = op

      list_planner.earliest_first(graph, step, delayed, placed)

    return list_planner.candidates(model, graph, schedule)


def favourite_children(
  graph: planning_graph.PlanningGraph,
) -> dict[int, tuple[int, float]]:
  """The favourite child of each op that has one.

  Args:
    graph: N ops.

  Returns:
    {op: (favourite child, seconds that it takes to send what it reads)}.

  Raises:
    UsageError: OR-Tools is not installed.
  """
  edges = _edges(graph)
  if not edges or graph.num_devices < 2:
    return {}
  values = _solve(graph, edges)
  found: dict[int, tuple[int, float]] = {}
  taken = set()
  for (source, target), x in sorted(
    zip(edges, values, strict=True), key=lambda item: (item[1], item[0])
  ):
    if x < _FAVOURITE_BELOW and source not in found and target not in taken:
      found[source] = target, edges[source, target]
      taken.add(target)
  return found


def _edges(
  graph: planning_graph.PlanningGraph,
) -> dict[tuple[int, int], float]:
  """{(source, target): seconds to send what the target reads}."""
  away = ~np.eye(graph.num_devices, dtype=bool)
  delays = graph.delay_seconds[:, away].min(axis=1, initial=np.inf)
  edges: dict[tuple[int, int], float] = {}
  for signal, readers in enumerate(graph.readers):
    source = int(graph.signals.source[signal])
    for reader in readers:
      before = edges.get((source, reader), 0.0)
      edges[source, reader] = before + float(delays[signal])
  return edges


def _solve(graph, edges) -> list[float]:
  """x of each edge; 1 for all where there is no answer in time."""
  try:
    from ortools.linear_solver import pywraplp
  except ImportError as error:
    raise errors.UsageError(
      '--policy=m_sct needs OR-Tools: pip install ortools.'
    ) from error
  solver = pywraplp.Solver.CreateSolver('GLOP')
  solver.SetTimeLimit(1000 * _SECONDS)
  hold = np.where(graph.op_allowed, graph.hold_seconds, np.inf).min(axis=1)
  hold = np.where(np.isfinite(hold), hold, 0.0)
  # Numbers near 1 are what the solver is exact with.
  scale = 1 / max(hold.mean(), max(edges.values()) / 100, 1e-30)
  starts = [solver.NumVar(0, solver.infinity(), '') for _ in range(len(graph))]
  whole = solver.NumVar(0, solver.infinity(), '')
  solver.Minimize(whole)
  by_source: dict[int, list] = {}
  by_target: dict[int, list] = {}
  for op, start in enumerate(starts):
    solver.Add(whole >= start + hold[op] * scale)
  values = []
  for (source, target), seconds in edges.items():
    x = solver.NumVar(0, 1, '')
    values.append(x)
    end = starts[source] + hold[source] * scale
    solver.Add(starts[target] >= end + seconds * scale * x)
    by_source.setdefault(source, []).append(x)
    by_target.setdefault(target, []).append(x)
  for group in (*by_source.values(), *by_target.values()):
    if len(group) > 1:
      solver.Add(solver.Sum(group) >= len(group) - 1)
  if solver.Solve() != pywraplp.Solver.OPTIMAL:
    return [1.0] * len(values)
  return [x.solution_value() for x in values]
