"""Portfolio: plans in simulation, measures the best few, corrects, plans again.

1. The planners (HEFT, m-ETF, m-SCT, METIS, Scotch, annealing) and Placeto's
   pre-trained network, which does not learn here, plan on the problem's costs,
   profiled where devices are real. The best few of all that they found, by the
   simulation of every op, are suggested.
2. What was measured corrects the costs (`correction.py`), by factors on ops and
   links and by residuals that say where the model is off, and how sure it is.
3. Annealing op by op looks for the largest *expected improvement* over the best
   measured step: a candidate that is predicted to be faster, or one of which
   little is known that may be. It is suggested, and 2 follows.

Ends when no candidate promises enough, and says so in its `note`. Expected
improvement: Jones, Schonlau and Welch, "Efficient global optimization of
expensive black-box functions" (1998), section 4.1.
"""

import dataclasses
import functools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from placer.core import placement_problem
from placer.core import trial as trial_lib
from placer.policies import base
from placer.policies import calibration
from placer.policies import correction
from placer.policies import group_moves
from placer.policies import local_search
from placer.policies import planning_model
from placer.policies.heuristics import annealing
from placer.policies.heuristics import heft
from placer.policies.heuristics import m_etf
from placer.policies.heuristics import m_sct
from placer.policies.heuristics import metis
from placer.policies.heuristics import scotch

_PLANNERS = (
  annealing.Annealing,
  heft.Heft,
  m_etf.MEtf,
  m_sct.MSct,
  metis.Metis,
  scotch.Scotch,
)
# With fewer, annealing sees enough, and a network is not worth its import.
_WORTH_A_NETWORK = 32


@dataclasses.dataclass(frozen=True)
class PortfolioConfig:
  """Settings of the portfolio.

  Attributes:
    zero_shot_rounds: of `placeto/guided_search.py`, 0 for none; 4 take some
      seconds, half of them for tracing the network.
    planned: how many planned candidates are suggested before the costs are
      corrected.
    visits: ops and edges to be simulated in each later search; 4e7 take about
      two seconds of a core.
    min_evaluations: candidates scored in it at least.
    max_evaluations: and at most.
    min_change: a planned candidate differs from those before it in groups
      that have at least this part of the work.
    min_improvement: expected, as a part of the best step time; below it the
      portfolio ends.
    attempts: searches that may promise nothing, one after the other.
    search: the rest of each search; its `evaluations` are set from the above.
  """

  zero_shot_rounds: int = 4
  planned: int = 2
  visits: float = 4e7
  min_evaluations: int = 400
  max_evaluations: int = 20_000
  min_change: float = 0.01
  min_improvement: float = 0.002
  attempts: int = 2
  search: local_search.LocalSearchConfig = local_search.LocalSearchConfig(
    rounds=2, hot=0.02
  )


class Portfolio(base.Policy):
  """Plans, measures, corrects; see the module docstring.

  Attributes:
    note: why it has ended, else ''.
  """

  name = 'portfolio'
  summary = 'all planners in simulation, corrected by what is measured'

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    seed: int = 0,
    config: PortfolioConfig = PortfolioConfig(),
  ) -> None:
    super().__init__(problem, seed=seed)
    self.note = ''
    self._seed = seed
    self._config = config
    self._trials: dict[bytes, trial_lib.Trial] = {}
    self._suggested: dict[bytes, np.ndarray] = {}
    self._pool: list[np.ndarray] = []
    self._planned: list[base.Suggestion] | None = None
    self._rounds = 0

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    if count < 1:
      return []
    if not self.problem.num_groups:
      return self._once(base.Suggestion(np.zeros(0, np.int32), self.name))
    if self._planned is None:
      self._planned = self._plan()
    found = self._next_planned(count)
    if not found:
      found = self._search_corrected()
    for suggestion in found:
      self._suggested[suggestion.candidate.tobytes()] = suggestion.candidate
    return found

  def update(self, trials: Sequence[trial_lib.Trial]) -> Mapping[str, float]:
    for trial in trials:
      self._trials[np.asarray(trial.candidate, np.int32).tobytes()] = trial
    times = calibration.step_seconds(list(self._trials.values()))
    return {'best_step_seconds': min(times.values())} if times else {}

  @functools.cached_property
  def _model(self) -> planning_model.PlanningModel:
    return planning_model.PlanningModel(self.problem)

  def _once(self, suggestion: base.Suggestion) -> list[base.Suggestion]:
    key = suggestion.candidate.tobytes()
    if self._is_known(key):
      return []
    self._suggested[key] = suggestion.candidate
    return [suggestion]

  def _is_known(self, key: bytes) -> bool:
    return key in self._trials or key in self._suggested

  def _plan(self) -> list[base.Suggestion]:
    """The best of all planners, different enough from each other."""
    labels: dict[bytes, str] = {}
    for label, candidate in self._candidates():
      labels.setdefault(np.asarray(candidate, np.int32).tobytes(), label)
    predictions = self._model.predict(
      [np.frombuffer(key, np.int32) for key in labels]
    )
    chosen: list[np.ndarray] = []
    found = []
    for prediction in predictions:
      self._pool.append(prediction.candidate)
      if len(found) < self._config.planned and all(
        self._change(prediction.candidate, other) >= self._config.min_change
        for other in chosen
      ):
        chosen.append(prediction.candidate)
        label = labels[prediction.candidate.tobytes()]
        found.append(
          base.Suggestion(
            prediction.candidate, f'{self.name}, planned by {label}'
          )
        )
    return found

  def _candidates(self) -> Iterator[tuple[str, np.ndarray]]:
    """(the policy, a candidate int32 `[G]`) of all that plan."""
    for planner in _PLANNERS:
      policy = planner(self.problem, seed=self._seed)
      for candidate in policy.plan(self._model):
        yield policy.name, candidate
    rounds = self._config.zero_shot_rounds
    if not rounds or self.problem.num_groups < _WORTH_A_NETWORK:
      return
    # TensorFlow and its companions take seconds to import.
    from placer.policies.placeto import guided_search
    from placer.policies.placeto import zero_shot

    config = zero_shot.ZeroShotConfig(
      warm_start=False, search=guided_search.of_rounds(rounds)
    )
    for candidate in zero_shot.zero_shot(
      self.problem, self._model.costs, seed=self._seed, config=config
    ):
      yield 'placeto', candidate

  def _next_planned(self, count: int) -> list[base.Suggestion]:
    found = []
    while self._planned and len(found) < count:
      suggestion = self._planned.pop(0)
      if not self._is_known(suggestion.candidate.tobytes()):
        found.append(suggestion)
    return found

  def _search_corrected(self) -> list[base.Suggestion]:
    """The candidate that promises most by the corrected costs, or none."""
    for _ in range(self._config.attempts):
      promising = self._promising()
      if promising is not None:
        self._rounds += 1
        label = f'{self.name}, corrected {self._rounds}'
        return [base.Suggestion(promising, label)]
    self.note = (
      'portfolio ended: by the costs as corrected by '
      f'{len(self._trials)} trials, no placement promises to be '
      f'{self._config.min_improvement:.1%} faster than the best one.'
    )
    return []

  def _promising(self) -> np.ndarray | None:
    trials = list(self._trials.values())
    corrected = correction.fit(
      self.problem, self._model.costs, trials, self._model.simulator
    )
    model = self._model.with_costs(corrected.costs)
    times = calibration.step_seconds(trials)
    best = min(times.values(), default=math.inf)

    def scores(candidates: np.ndarray) -> np.ndarray:
      seconds = model.full_scores(candidates)
      mean, deviation = corrected.residuals(candidates, seconds)
      # Optimistic by a standard deviation: what may well be faster.
      return seconds * np.exp(mean - deviation)

    starts = [trials[i].candidate for i in sorted(times, key=times.get)[:4]]
    found = local_search.search(
      scores,
      group_moves.GroupMoves(model.coarse.problem, model.graph.allowed),
      # Each group where the model says that all its ops can run.
      list(
        placement_problem.nearest_legal(
          np.stack([*starts, *self._pool[:8]]), model.graph.allowed
        )
      ),
      model.graph.allowed,
      self.rng,
      self._search_config(),
    )
    fresh = [c for c in found if not self._is_known(c.tobytes())]
    if not fresh:
      return None
    seconds, deviation = corrected.predict(np.stack(fresh))
    promises = _expected_improvement(seconds, deviation, best)
    most = int(np.nanargmax(np.append(promises, -1.0)))
    if most == len(fresh) or promises[most] < self._config.min_improvement:
      return None
    return fresh[most]

  def _search_config(self) -> local_search.LocalSearchConfig:
    graph, config = self.problem.graph, self._config
    wanted = config.visits / max(len(graph) + len(graph.edge_source), 1)
    evaluations = min(
      max(wanted, config.min_evaluations), config.max_evaluations
    )
    return dataclasses.replace(config.search, evaluations=int(evaluations))

  @functools.cached_property
  def _shares(self) -> np.ndarray:
    """float64 `[G]`: the part of the work that each group has."""
    seconds = self._model.graph.hold_seconds.min(axis=1)
    seconds = np.where(np.isfinite(seconds), seconds, 0.0)
    groups = np.arange(self.problem.num_groups)
    work = np.bincount(
      self._model.coarse.problem.op_group, seconds, minlength=len(groups)
    )
    return work / max(work.sum(), 1e-30)

  def _change(self, one: np.ndarray, other: np.ndarray) -> float:
    """The part of the work that is elsewhere."""
    return float(self._shares[one != other].sum())


def _expected_improvement(
  seconds: np.ndarray, deviation: np.ndarray, best: float
) -> np.ndarray:
  """By how much of the best step each candidate is expected to be faster.

  Args:
    seconds: float64 `[B]`, predicted; NaN promises nothing.
    deviation: float64 `[B]`, of the logarithm.
    best: seconds of the best measured step; inf where there is none.

  Returns:
    float64 `[B]`, 0 and more, of the logarithm.
  """
  if not math.isfinite(best):
    return np.where(np.isnan(seconds), -1.0, 1.0 / np.maximum(seconds, 1e-30))
  gain = np.log(best / seconds)
  deviation = np.maximum(deviation, 1e-12)
  z = gain / deviation
  density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
  below = np.array([0.5 * math.erfc(-value / math.sqrt(2)) for value in z])
  return np.nan_to_num(gain * below + deviation * density, nan=-1.0)
