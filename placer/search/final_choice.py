"""The answer of a search: a fresh, paired re-measurement of the best few.

The trial that looked best among many looked better than it is, so the answer
is chosen from new measurements with more steps. First the second-best single
device against the best one, the faster of them being the reference; then each
finalist against the reference. A finalist wins only if the bootstrap interval
of its paired ratio lies below 1: the answer is never worse than the best
single device. When no single device can run, the best finalist wins.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from absl import logging

from placer.core import errors
from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.core import search_result
from placer.core import trial as trial_lib
from placer.measurers import base as measurers_base
from placer.search import final_plan
from placer.search import history as history_lib
from placer.search import paired_ratio


def choose(
  problem: placement_problem.PlacementProblem,
  measurer: measurers_base.Measurer,
  history: history_lib.History,
  *,
  planned: final_plan.Plan | None = final_plan.Plan(),
  confidence: float = 0.95,
  seed: int = 0,
  notes: Sequence[str] = (),
  elapsed: Callable[[], float] = lambda: 0.0,
) -> search_result.SearchResult:
  """Re-measures the best few candidates and chooses one.

  Args:
    problem: G groups on D devices.
    measurer: open.
    history: all trials.
    planned: what to re-measure; None measures nothing more and chooses by the
      trials, since the user interrupted the search.
    confidence: of the intervals.
    seed: of the bootstrap.
    notes: passed on, followed by those of the choice.
    elapsed: seconds since the search began.

  Returns:
    The SearchResult.

  Raises:
    NoFeasiblePlacementError: no trial ran; the message lists why.
  """
  if history.reference() is None:
    raise errors.NoFeasiblePlacementError(_nothing_ran(history))
  final = _Final(problem, measurer, history, confidence, seed)
  interrupted = planned is None
  if planned is not None:
    try:
      final.measure(planned)
    except KeyboardInterrupt:
      logging.info('Interrupted: going on to the result.')
      interrupted = True
  rows = final.rows()
  chosen, improved, said = final.choice(rows, interrupted)
  return search_result.SearchResult(
    chosen=chosen,
    rows=tuple(rows),
    reference_label=_label(final.reference) if history.singles() else '',
    improved=improved,
    trials=tuple(history.trials),
    problem=problem,
    elapsed_seconds=elapsed(),
    interrupted=interrupted,
    confidence=confidence,
    notes=(*notes, *said),
  )


class _Final:
  """The final measurements and what follows from them."""

  def __init__(self, problem, measurer, history, confidence, seed) -> None:
    self.problem = problem
    self.measurer = measurer
    self.history = history
    self.confidence = confidence
    self.seed = seed
    self.reference = history.reference()
    self.fresh: dict[int, measurement_lib.Measurement] = {}

  def measure(self, planned: final_plan.Plan) -> None:
    """Measures the second single device, then the finalists."""
    singles = self.history.singles()
    if planned.second_single and len(singles) > 1:
      measured = self._pair(singles[1], planned.steps)
      if measured.ok and self._compare(measured)[0] < 1:
        self._swap(singles[0], singles[1], measured)
    for trial in final_plan.finalists(self.history, planned.finalists):
      if trial is not self.reference:
        self._pair(trial, planned.steps)

  def _swap(self, first, second, measured) -> None:
    """The second single device is the better one: it is what to beat."""
    self.fresh.pop(second.index)
    self.reference = second
    if measured.reference_times_seconds:
      self.fresh[first.index] = _swapped(first.measurement, measured)

  def rows(self) -> list[search_result.Row]:
    """Singles, baselines in their order, then the rest, the fastest first."""
    shown = [t for t in self.history.trials if t.policy == history_lib.SINGLE]
    shown += [
      t for t in self.history.trials if t.policy in ('original', 'expert')
    ]
    best = final_plan.finalists(self.history, 1)
    for trial in self.history.ranked():
      if trial not in shown and (trial.index in self.fresh or trial in best):
        shown.append(trial)
    if self.reference not in shown:
      shown.append(self.reference)
    return [self._row(trial) for trial in shown]

  def choice(
    self, rows: Sequence[search_result.Row], interrupted: bool
  ) -> tuple[search_result.Row, bool, list[str]]:
    """(the chosen row, whether it beats the singles, sentences)."""
    said = []
    if interrupted:
      said.append(
        'Interrupted: the choice rests on the trials; the best were not '
        're-measured. The same command goes on from here.'
      )
    base = next(r for r in rows if r.candidate is self.reference.candidate)
    others = [r for r in rows if r is not base and r.ratio is not None]
    others.sort(key=lambda row: row.ratio)
    if not self.history.singles():
      said.append('No single device can run this graph.')
      best = min([base, *others], key=lambda row: row.ratio or 1.0)
      return best, False, said
    for row in others:
      trusted = interrupted or row.remeasured
      if trusted and row.interval is not None and row.interval[1] < 1:
        return row, row.policy != history_lib.SINGLE, said
    if others and others[0].ratio < 1:
      said.append(_not_sure(others[0], self.confidence))
    return base, False, said

  def _pair(
    self, trial: trial_lib.Trial, steps: int
  ) -> measurement_lib.Measurement:
    measured = self.measurer.measure(
      self.problem,
      trial.candidate[np.newaxis],
      reference=self.reference.candidate,
      steps=steps,
    )[0]
    self.fresh[trial.index] = measured
    return measured

  def _compare(
    self, measured: measurement_lib.Measurement
  ) -> tuple[float, tuple[float, float] | None]:
    steps = measured.step_times_seconds
    others = measured.reference_times_seconds
    if not others:
      # A measurer without drift (a simulator) needs no pairs.
      others = self.reference.measurement.step_times_seconds
      ratio = paired_ratio.ratio(steps, others)
      return ratio, (ratio, ratio)
    return paired_ratio.ratio(steps, others), paired_ratio.interval(
      steps, others, confidence=self.confidence, seed=self.seed
    )

  def _row(self, trial: trial_lib.Trial) -> search_result.Row:
    fresh = self.fresh.get(trial.index)
    measured = fresh or trial.measurement
    ratio, interval = None, None
    if trial is self.reference:
      ratio, measured = 1.0, self._pooled_reference()
    elif fresh is not None and fresh.ok:
      ratio, interval = self._compare(fresh)
    elif fresh is None and measured.ok:
      ratio, interval = self._from_trial(trial)
    return search_result.Row(
      label=_label(trial),
      policy=trial.policy,
      candidate=trial.candidate,
      measurement=measured,
      ratio=ratio,
      interval=interval,
      remeasured=fresh is not None,
    )

  def _pooled_reference(self) -> measurement_lib.Measurement:
    """The reference's measurement, of all its steps beside the others'."""
    steps = [
      seconds
      for index, measured in self.fresh.items()
      # The loser of the two best singles holds the steps of the pair.
      for seconds in measured.reference_times_seconds
      if index != self.reference.index
    ]
    measured = self.reference.measurement
    if not steps:
      return measured
    return dataclasses.replace(
      measured,
      step_times_seconds=tuple(steps),
      reference_times_seconds=(),
    )

  def _from_trial(
    self, trial: trial_lib.Trial
  ) -> tuple[float | None, tuple[float, float] | None]:
    """Ratio and interval of a trial that was not re-measured."""
    ratio = self.history.ratio(trial)
    base = self.history.ratio(self.reference)
    if ratio is None or base is None:
      return None, None
    link = trial.measurement.details.get(trial_lib.REFERENCE_KEY)
    if link != self.reference.index:
      return ratio / base, None
    return ratio / base, self._compare(trial.measurement)[1]


def _label(trial: trial_lib.Trial) -> str:
  return trial.label or f'{trial.policy} #{trial.index}'


def _swapped(
  usual: measurement_lib.Measurement, pair: measurement_lib.Measurement
) -> measurement_lib.Measurement:
  """What a pair tells of its reference, as a measurement of that."""
  return dataclasses.replace(
    usual,
    step_times_seconds=pair.reference_times_seconds,
    reference_times_seconds=pair.step_times_seconds,
  )


def _not_sure(row: search_result.Row, confidence: float) -> str:
  if row.interval is None:
    return (
      f'{row.label} looked faster than the best single device (ratio '
      f'{row.ratio:.3f}), but was not measured often enough to be sure.'
    )
  return (
    f'{row.label} looked faster than the best single device (ratio '
    f'{row.ratio:.3f}), but the {confidence:.0%} interval '
    f'{row.interval[0]:.3f} to {row.interval[1]:.3f} does not exclude 1.'
  )


def _nothing_ran(history: history_lib.History) -> str:
  reasons: dict[tuple[str, str], list[str]] = {}
  for trial in history.trials:
    problem = (trial.measurement.status.value, trial.measurement.reason)
    reasons.setdefault(problem, []).append(_label(trial))
  lines = [
    f'  {status}: {reason} ({", ".join(labels[:3])}'
    + (f' and {len(labels) - 3} more)' if len(labels) > 3 else ')')
    for (status, reason), labels in reasons.items()
  ]
  return (
    f'None of the {len(history.trials)} placements that were tried ran:\n'
    + '\n'.join(lines)
    + '\nIf steps never end, see what they wait for: --fetches, --feeds_file, '
    '--step_timeout_seconds. Else add devices or memory, or try more with '
    '--budget_trials.'
  )
