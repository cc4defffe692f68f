"""Exact: all placements where there are few, else CP-SAT on the groups.

Up to 4,096 placements are all simulated. Beyond that, annealing finds a good
one, and CP-SAT looks for a placement and a schedule that are faster
(`schedule_program.py`) until it has proved that there is none, or its time is
over. What it found is predicted op by op; the label says how far that is at
most above the proven bound, both on the coarse problem (a group at a time).

CP-SAT is given up to 64 groups that make up to 600 ops of the coarse problem;
for larger ones nothing is suggested, and `note` says so: make fewer groups with
--max_groups=64, or use annealing.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from absl import logging

from placer.core import placement_problem
from placer.policies import local_search
from placer.policies import lower_bound
from placer.policies import planner
from placer.policies import planning_model
from placer.policies import schedule_program
from placer.policies import window_bounds
from placer.policies.heuristics import annealing


@dataclasses.dataclass(frozen=True)
class ExactConfig:
  """Settings of the exact planner.

  Attributes:
    start: of annealing, whose best placement CP-SAT starts from.
    limits: of CP-SAT; by `work`, so that equal seeds suggest the same. That of
      large problems may take longer than `seconds`, which then ends it.
    kept: how many of the best placements are predicted op by op.
  """

  start: annealing.AnnealingConfig = annealing.AnnealingConfig(
    visits=2e7, evaluations_per_choice=100, full_visits=0
  )
  limits: schedule_program.SolverLimits = schedule_program.SolverLimits(
    seconds=120.0, work=3.0, most_transfers=1_200
  )
  kept: int = 32


class Exact(planner.Planner):
  """Suggests one candidate; see the module docstring.

  Attributes:
    note: a sentence for the user where it did not plan, else ''.
    bound: the Bound of the coarse problem, None before it has planned.
  """

  name = 'exact'
  summary = 'CP-SAT: placement and schedule, with a proven bound'

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    seed: int = 0,
    config: ExactConfig = ExactConfig(),
  ) -> None:
    super().__init__(problem, seed=seed)
    self._config = config
    self._seed = seed
    self.note = ''
    self.bound: lower_bound.Bound | None = None

  def plan(self, model: planning_model.PlanningModel) -> Sequence[np.ndarray]:
    if lower_bound.is_tiny(model.graph.allowed):
      return self._all(model)
    if lower_bound.is_too_large(model.graph):
      self.note = (
        f'The exact planner did not plan: {len(model.graph.allowed)} groups '
        f'that make {len(model.graph)} ops; it takes up to '
        f'{lower_bound.MOST_GROUPS} groups and {lower_bound.MOST_OPS} ops. Use '
        f'--max_groups={lower_bound.MOST_GROUPS}, or --policy=annealing.'
      )
      logging.warning('%s', self.note)
      return []
    return self._solve(model)

  def label(self, found: planning_model.Prediction) -> str:
    said = super().label(found)
    if self.bound is None or found.step_time_seconds is None:
      return said
    gap = self.bound.gap(found.score)
    if self.bound.method == 'all placements' and gap <= 0:
      return f'{said}, the best of all'
    return f'{said}, within {100 * gap:.1f} % of the bound'

  def _all(self, model) -> list[np.ndarray]:
    found = local_search.search_all(
      model.scores, model.graph.allowed, self._config.kept
    )
    best = found[0][np.newaxis]
    # Scores of what does not fit are no seconds.
    seconds = float(model.scores(best)[0]) if model.fits(best)[0] else np.inf
    self.bound = lower_bound.Bound(seconds, 'all placements')
    return found

  def _solve(self, model) -> list[np.ndarray]:
    known = list(
      annealing.Annealing(
        model.problem, seed=self._seed, config=self._config.start
      ).plan(model)
    )
    windows = window_bounds.windows(model.graph)
    self.bound = lower_bound.Bound(windows.seconds, windows.method)
    best = known[0][np.newaxis]
    seconds = float(model.scores(best)[0])
    if not model.fits(best)[0]:
      return known
    solution = schedule_program.solve(
      model.graph,
      windows,
      model.coarse.cost_model.memory_bytes,
      known[0],
      seconds,
      dataclasses.replace(self._config.limits, seed=self._seed),
    )
    # In the program ops run to their end.
    is_valid = not model.costs.takes_turns
    if is_valid and solution.bound_seconds > windows.seconds:
      self.bound = lower_bound.Bound(solution.bound_seconds, 'CP-SAT')
    return known + list(solution.candidates)
