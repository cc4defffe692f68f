"""The search: baselines, then the policies' suggestions, then the answer.

    measure each single device                      always, whatever the budget
    measure the other baselines (original, expert)
    while budget is left, over the policies in turn:
      suggestions = policy.suggest(batch_size)
      new ones are measured, paired with the best single device; known ones
        are found in the log
      policy.update(trials)
    re-measure the best few and choose              `final_choice.py`

Part of `budget.seconds` is kept for the last step. A candidate that fails is
a trial like any other. A search whose log has trials goes on from them. An
interrupt (Ctrl-C) ends the search with what is known.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from absl import logging

from placer.core import placement_problem
from placer.core import search_result
from placer.core import trial as trial_lib
from placer.measurers import base as measurers_base
from placer.policies import base as policies_base
from placer.search import budget as budget_lib
from placer.search import final_choice
from placer.search import final_plan
from placer.search import history as history_lib
from placer.search import learned_constraints
from placer.search import trial_log

# Called after each trial as on_trial(trial, best_ratio, remaining_seconds,
# remaining_trials); the last three are None when not known or not limited.
OnTrial = Callable[
  [trial_lib.Trial, float | None, float | None, int | None], None
]


@dataclasses.dataclass(frozen=True)
class SearchConfig:
  """What a search does.

  Attributes:
    batch_size: suggestions asked of a policy at a time, measured together.
    steps: timed steps of a trial; None for as many as take `timed_seconds`,
      `min_steps` to `max_steps`, the reference's between them included.
    timed_seconds: see `steps`.
    min_steps: see `steps`.
    max_steps: see `steps`.
    give_up_ratio: a trial that is slower than this many times the best single
      device after its first steps gets no more; None never gives up.
    patience: rounds in which a policy suggests nothing new before it is done.
    finalists: how many of the best candidates are re-measured at the end.
    final_steps: timed steps of each of them.
    final_part: of a limit in seconds, kept for re-measuring as far as that uses
      it; with less, fewer candidates are re-measured with fewer steps.
    confidence: of the intervals.
    seed: of the bootstrap.
  """

  batch_size: int = 1
  steps: int | None = None
  timed_seconds: float = 5.0
  min_steps: int = 3
  max_steps: int = 20
  give_up_ratio: float | None = 1.5
  patience: int = 20
  finalists: int = 3
  final_steps: int = 20
  final_part: float = 0.35
  confidence: float = 0.95
  seed: int = 0


def search(
  problem: placement_problem.PlacementProblem,
  measurer: measurers_base.Measurer,
  policies: Sequence[policies_base.Policy],
  *,
  baselines: Sequence[policies_base.Policy] = (),
  config: SearchConfig = SearchConfig(),
  budget: budget_lib.Budget | None = None,
  log: trial_log.TrialLog | None = None,
  on_trial: OnTrial | None = None,
) -> search_result.SearchResult:
  """Searches for the placement with the shortest step.

  Args:
    problem: G groups on D devices.
    measurer: open; the caller closes it.
    policies: take turns; none measures only the baselines.
    baselines: all that these suggest is measured before anything else, and
      what the one named 'single_device' suggests whatever the budget; of
      `registry.baselines(problem)`.
    config: what the search does.
    budget: when it stops; None lets the policies decide.
    log: open; its trials are resumed from and new ones appended. None keeps
      them in memory only.
    on_trial: told of each new trial.

  Returns:
    The SearchResult. Its choice is never worse than the best single device.

  Raises:
    NoFeasiblePlacementError: nothing ran; the message lists why.
    KeyboardInterrupt: interrupted before anything ran.
  """
  run = _Run(
    problem, measurer, config, budget or budget_lib.Budget(), log, on_trial
  )
  try:
    run.baselines(baselines)
    run.policies(policies)
    planned = run.last_plan()
  except KeyboardInterrupt:
    if run.history.reference() is None:
      raise
    logging.info('Interrupted: going on to the result.')
    planned = None
  return final_choice.choose(
    problem,
    measurer,
    run.history,
    planned=planned,
    confidence=config.confidence,
    seed=config.seed,
    notes=run.notes,
    elapsed=lambda: run.budget.elapsed_seconds,
  )


class _Run:
  """The state of one search."""

  def __init__(self, problem, measurer, config, budget, log, on_trial) -> None:
    self.problem = problem
    self.measurer = measurer
    self.config = config
    self.budget = budget
    self.log = log
    self.on_trial = on_trial
    self.history = history_lib.History()
    self.notes: list[str] = []
    self.learned = learned_constraints.LearnedConstraints(problem)
    for trial in log.trials if log else ():
      self._add(trial)
    budget.start(
      spent_seconds=trial_log.elapsed_seconds(self.history.trials),
      spent_trials=len(self.history.trials),
    )

  def baselines(self, policies: Sequence[policies_base.Policy]) -> None:
    """Measures all that the baselines suggest, in their order."""
    for policy in policies:
      name = policy.name
      for suggestion in map(self._repaired, _all_suggestions(policy)):
        # Without the single devices there is nothing to compare with, so they
        # are measured whatever the budget.
        if name != history_lib.SINGLE and not self._affordable():
          return
        known = self.history.find(suggestion.candidate)
        if known is None:
          self._measure([suggestion], name)
        elif known.policy != name:
          self.notes.append(
            f'{suggestion.label or name} is the same placement as '
            f'{known.label or known.policy}.'
          )
      self._take_note(policy)

  def policies(self, policies: Sequence[policies_base.Policy]) -> None:
    """Lets the policies take turns until all are done or the budget is."""
    for policy in policies:
      policy.update(list(self.history.trials))
    idle = {id(policy): 0 for policy in policies}
    active = list(policies)
    while active and self._affordable():
      for policy in tuple(active):
        if not self._affordable():
          return
        fresh = self._round(policy, policies)
        idle[id(policy)] = 0 if fresh else idle[id(policy)] + 1
        if fresh is None or idle[id(policy)] >= self.config.patience:
          active.remove(policy)

  def _round(self, policy, policies) -> int | None:
    """One turn of a policy: how many were new; None when it has no more."""
    count = self.config.batch_size
    if self.budget.remaining_trials is not None:
      count = min(count, self.budget.remaining_trials)
    suggestions = policy.suggest(count)
    if not suggestions:
      self._take_note(policy)
      return None
    known, fresh = [], {}
    for suggestion in map(self._repaired, suggestions):
      trial = self.history.find(suggestion.candidate)
      if trial is not None:
        known.append(trial)
      else:
        fresh.setdefault(history_lib.key(suggestion.candidate), suggestion)
    trials = self._measure(list(fresh.values()), policy.name) if fresh else []
    for other in policies:
      if other is policy:
        metrics = policy.update(known + trials)
        if metrics:
          logging.info('%s: %s', policy.name, dict(metrics))
      elif trials:
        other.update(trials)
    return len(trials)

  def _take_note(self, policy: policies_base.Policy) -> None:
    if note := getattr(policy, 'note', ''):
      self.notes.append(note)

  def _measure(
    self, suggestions: Sequence[policies_base.Suggestion], policy: str
  ) -> list[trial_lib.Trial]:
    reference = self.history.reference()
    measurements = self.measurer.measure(
      self.problem,
      np.stack([s.candidate for s in suggestions]),
      reference=None if reference is None else reference.candidate,
      steps=self._steps(reference),
      give_up_ratio=None if reference is None else self.config.give_up_ratio,
    )
    trials = []
    for suggestion, measurement in zip(suggestions, measurements, strict=True):
      trial = trial_lib.Trial(
        index=len(self.history.trials),
        policy=policy,
        candidate=np.asarray(suggestion.candidate, np.int32),
        measurement=history_lib.with_reference(measurement, reference),
        elapsed_seconds=self.budget.elapsed_seconds,
        label=suggestion.label,
      )
      self._add(trial)
      trials.append(trial)
    if self.log is not None:
      self.log.extend(trials)
    for trial in trials:
      self.budget.spend_trial()
      self._report(trial)
    return trials

  def _add(self, trial: trial_lib.Trial) -> None:
    self.history.add(trial)
    if note := self.learned.learn(trial):
      self.notes.append(note)

  def _repaired(self, suggestion) -> policies_base.Suggestion:
    return dataclasses.replace(
      suggestion, candidate=self.learned.repair(suggestion.candidate)
    )

  def _steps(self, reference: trial_lib.Trial | None) -> int | None:
    """Timed steps of the next trial; None for the measurer's default."""
    config = self.config
    if config.steps is not None or reference is None:
      return config.steps
    pair = 2 * reference.measurement.step_time_seconds
    wanted = int(config.timed_seconds / max(pair, 1e-9))
    return min(max(wanted, config.min_steps), config.max_steps)

  def _report(self, trial: trial_lib.Trial) -> None:
    if self.on_trial is not None:
      left = self.budget.remaining_seconds, self.budget.remaining_trials
      self.on_trial(trial, self.history.best_ratio(), *left)

  def last_plan(self) -> final_plan.Plan:
    """What to re-measure in the time that is left."""
    seconds = self.budget.remaining_seconds
    if self.problem.devices.is_simulated:
      seconds = None  # no step of it takes any time to speak of
    return final_plan.plan(self.history, *self._wanted(), seconds)[0]

  def _wanted(self) -> tuple[int, int]:
    return self.config.finalists, self.config.final_steps

  def _affordable(self) -> bool:
    """Whether another trial fits, and the re-measurement after it."""
    left = self.budget.remaining_seconds
    if left is None or self.problem.devices.is_simulated:
      return self.budget.allows(self.history.trial_seconds())
    kept = self.budget.seconds * self.config.final_part
    return self.budget.allows() and final_plan.trial_fits(
      self.history, *self._wanted(), left, kept
    )


def _all_suggestions(
  policy: policies_base.Policy,
) -> Iterator[policies_base.Suggestion]:
  while suggestions := policy.suggest(16):
    yield from suggestions
