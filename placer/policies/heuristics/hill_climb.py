"""Hill climbing on measured steps, with moves that an estimate proposes.

A measurement costs 5 to 15 s and a search has a dozen of them, so each has to
count. Start: single devices and the splits by hand. Then, one at a time,

  1. the estimate's factors are fitted to all trials so far;
  2. annealing on the estimate, in moves of whole blocks, from the best
     measured candidate and in turn from the best predicted one;
  3. the best state that differs enough from all that was measured is
     suggested; only its measurement decides whether it becomes the best.

Ends when nothing new can be found, and says so in its `note`.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from placer.core import placement_problem
from placer.core import trial as trial_lib
from placer.policies import base
from placer.policies import block_graph
from placer.policies import block_moves
from placer.policies import calibration
from placer.policies import estimate
from placer.policies.heuristics import expert
from placer.policies.heuristics import single_device

# What failed (memory, a kernel) fails a little beside it too.
_AWAY_FROM_FAILED = 10


@dataclasses.dataclass(frozen=True)
class HillClimbConfig:
  """Settings of hill climbing.

  Attributes:
    unit_visits: work of one annealing, units scheduled; 4e5 take about 1 s.
    min_evaluations: of one annealing, also on large graphs.
    max_evaluations: of one annealing, also on small graphs.
    near_temperature: of annealing from the best measured, of its step time.
    far_temperature: of annealing from the best predicted.
    min_change: a suggestion differs from each measured candidate in blocks
      that have at least this part of the estimated time.
    attempts: annealings in search of something new before it is the end.
  """

  unit_visits: int = 400_000
  min_evaluations: int = 200
  max_evaluations: int = 3000
  near_temperature: float = 0.01
  far_temperature: float = 0.05
  min_change: float = 0.005
  attempts: int = 4


class HillClimb(base.Policy):
  """Climbs on measured steps; see the module docstring.

  Attributes:
    note: why it has ended, else ''.
  """

  name = 'hill_climb'
  summary = 'measured hill climbing in moves of blocks that an estimate ranks'

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    seed: int = 0,
    config: HillClimbConfig = HillClimbConfig(),
  ) -> None:
    super().__init__(problem, seed=seed)
    self._config = config
    self._blocks = block_graph.build(problem)
    self._schedule = estimate.Schedule(
      problem, block_of_group=self._blocks.block_of_group
    )
    self._starts = [
      *single_device.suggestions(problem),
      *expert.suggestions(problem),
    ]
    self._trials: dict[bytes, trial_lib.Trial] = {}
    self._suggested: dict[bytes, np.ndarray] = {}
    self._rounds = 0
    self._climbs = 0
    self.note = ''

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    found = []
    while len(found) < count:
      suggestion = self._next_start()
      # One climb at a time: the next one learns from its measurement.
      if suggestion is None and not found:
        suggestion = self._climb()
        count = 1
      if suggestion is None:
        self.note = '' if found else self._why_it_ended()
        break
      self._suggested[suggestion.candidate.tobytes()] = suggestion.candidate
      found.append(suggestion)
    return found

  def update(self, trials: Sequence[trial_lib.Trial]) -> Mapping[str, float]:
    for trial in trials:
      self._trials[np.asarray(trial.candidate, np.int32).tobytes()] = trial
    observations = self._observations()
    if not observations:
      return {}
    scale = self._scale(observations)
    return {
      'best_step_seconds': min(seen.seconds for seen in observations),
      'transfer_scale': scale.transfer,
    }

  def _next_start(self) -> base.Suggestion | None:
    while self._starts:
      start = self._starts.pop(0)
      if not self._known(start.candidate):
        return start
    return None

  def _climb(self) -> base.Suggestion | None:
    """The best new state that annealing on the estimate finds."""
    if not len(self._blocks):
      return None
    observations = self._observations()
    scale = self._scale(observations)

    def score(devices: np.ndarray) -> float:
      return self._schedule.makespan(devices, scale)

    for attempt in range(self._config.attempts):
      near = self._rounds % 2 == 0
      self._rounds += 1
      start = self._start(observations, score, near)
      temperatures = (
        self._config.far_temperature,
        self._config.near_temperature,
      )
      for visited in block_moves.anneal(
        self._blocks,
        score,
        start,
        self.rng,
        evaluations=self._evaluations(),
        temperature=temperatures[near] * 2**attempt,
      ):
        candidate = self._blocks.candidate(visited.devices)
        if self._is_new(candidate, self._config.min_change * (attempt < 2)):
          return base.Suggestion(candidate, self._label())
    return None

  def _why_it_ended(self) -> str:
    known = len(self._trials.keys() | self._suggested.keys())
    if known >= np.prod(self._blocks.allowed.sum(axis=1, dtype=float)):
      return (
        f'hill_climb ended: the {known} placements of its {len(self._blocks)} '
        'blocks are all known.'
      )
    return (
      f'hill_climb ended: {self._config.attempts} searches on its estimate '
      f'found nothing that is not among the {known} placements it knows. '
      '--policy=hill_climb,random goes on.'
    )

  def _label(self) -> str:
    self._climbs += 1
    return f'hill_climb {self._climbs}'

  def _evaluations(self) -> int:
    units = max(1, len(self._schedule.unit_seconds))
    wanted = max(
      self._config.min_evaluations, self._config.unit_visits // units
    )
    # Small problems have fewer states than that.
    states = np.prod(self._blocks.allowed.sum(axis=1, dtype=float))
    return int(min(wanted, self._config.max_evaluations, 10 * states))

  def _start(self, observations, score, near: bool) -> np.ndarray:
    """The best measured state, or the best predicted of all that are known."""
    if near and observations:
      return min(observations, key=lambda seen: seen.seconds).devices
    states = [self._blocks.devices(c) for c in self._suggested.values()]
    states += [seen.devices for seen in observations]
    if not states:
      return self._blocks.devices(single_device.candidate(self.problem, 0))
    return min(states, key=score)

  def _observations(self) -> list[calibration.Observation]:
    trials = list(self._trials.values())
    return [
      calibration.Observation(
        self._blocks.devices(trials[i].candidate), seconds
      )
      for i, seconds in calibration.step_seconds(trials).items()
    ]

  def _scale(self, observations) -> estimate.Scale:
    return calibration.fit(
      self._schedule, observations, len(self.problem.devices)
    )

  def _known(self, candidate: np.ndarray) -> bool:
    key = candidate.tobytes()
    return key in self._trials or key in self._suggested

  def _is_new(self, candidate: np.ndarray, min_change: float) -> bool:
    if self._known(candidate):
      return False
    devices = self._blocks.devices(candidate)
    part = self._blocks.seconds / max(self._blocks.seconds.sum(), 1e-30)
    needed = [
      (
        trial.candidate,
        min_change * (1 if trial.measurement.ok else _AWAY_FROM_FAILED),
      )
      for trial in self._trials.values()
    ]
    needed += [(other, min_change) for other in self._suggested.values()]
    return all(
      part[devices != self._blocks.devices(other)].sum() >= change
      for other, change in needed
    )
