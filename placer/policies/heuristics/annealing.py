"""Annealing on the simulator, in moves of groups that belong together.

It starts from single devices, the splits by hand and what HEFT, m-ETF and METIS
make and searches on the coarse problem (`local_search.py`). What it found there
is refined in a second, shorter and cooler search op by op, since the coarse
problem's best is not always the best; the best few of that are suggested. How
long it searches is counted in simulated ops and edges, not in time, so that
equal seeds give equal suggestions.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from placer.core import placement_problem
from placer.policies import group_moves
from placer.policies import local_search
from placer.policies import planner
from placer.policies import planning_model
from placer.policies.heuristics import expert
from placer.policies.heuristics import heft
from placer.policies.heuristics import m_etf
from placer.policies.heuristics import metis
from placer.policies.heuristics import single_device

# The whole graph is as good as the coarse one below this many times its size.
_WORTH_REFINING = 1.5
# With fewer evaluations op by op, a second search gets nowhere.
_MIN_REFINING = 100


@dataclasses.dataclass(frozen=True)
class AnnealingConfig:
  """Settings of annealing.

  Attributes:
    visits: ops and edges of the coarse problem to be simulated in all; 6e7 take
      about 3 s of a core.
    min_evaluations: candidates scored at least, also on large problems.
    evaluations_per_choice: at most, for each device that a group may use; small
      problems need no more.
    full_visits: ops and edges of the whole graph to be simulated in the second
      search; 0 for none.
    search: the rest; its `evaluations` are set from the fields above.
  """

  visits: float = 6e7
  min_evaluations: int = 2_000
  evaluations_per_choice: int = 400
  full_visits: float = 4e7
  search: local_search.LocalSearchConfig = local_search.LocalSearchConfig()


class Annealing(planner.Planner):
  """Suggests its best candidates; see the module docstring."""

  name = 'annealing'
  summary = 'simulated annealing on the simulator, in moves of blocks'
  max_suggestions = 4

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    seed: int = 0,
    config: AnnealingConfig = AnnealingConfig(),
  ) -> None:
    super().__init__(problem, seed=seed)
    self._config = config

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    config = self._config
    size = len(model.graph) + len(model.graph.signals.readers)
    evaluations = min(
      max(config.visits / size, config.min_evaluations),
      config.evaluations_per_choice * model.graph.allowed.sum(),
    )
    moves = group_moves.GroupMoves(model.coarse.problem, model.graph.allowed)
    found = local_search.search(
      model.scores,
      moves,
      starts(model),
      model.graph.allowed,
      self.rng,
      dataclasses.replace(config.search, evaluations=int(evaluations)),
    )
    whole = len(model.problem.graph) + len(model.problem.graph.edge_source)
    evaluations = min(evaluations, config.full_visits / max(whole, 1))
    if whole < _WORTH_REFINING * size or evaluations < _MIN_REFINING:
      return found
    return local_search.search(
      model.full_scores,
      moves,
      found,
      model.graph.allowed,
      self.rng,
      dataclasses.replace(
        config.search,
        evaluations=int(evaluations),
        rounds=1,
        hot=config.search.hot / 10,
        cold=config.search.cold / 10,
      ),
    )


def starts(model: planning_model.PlanningModel) -> list[np.ndarray]:
  """Candidates that a search begins with.

  Args:
    model: of G groups, at least one.

  Returns:
    Different int32 `[G]`, legal, each group where all its ops can run.
  """
  problem = model.problem
  found = [
    suggestion.candidate
    for suggestion in (
      *single_device.suggestions(problem),
      *expert.suggestions(problem),
    )
  ]
  for policy in (heft.Heft, m_etf.MEtf, metis.Metis):
    found += policy(problem).plan(model)
  rows = placement_problem.nearest_legal(np.stack(found), model.graph.allowed)
  return list(np.unique(rows, axis=0))
