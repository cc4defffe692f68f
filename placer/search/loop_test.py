import pathlib
import time

import numpy as np
from absl.testing import absltest

from placer.core import errors
from placer.core import measurement
from placer.policies import base
from placer.policies import registry
from placer.search import budget as budget_lib
from placer.search import loop
from placer.search import trial_log
from placer.testing import fake_measurer
from placer.testing import problems


class _Listed(base.Policy):
  """Suggests what a test lists, and keeps what it is told."""

  name = 'listed'
  summary = 'for tests'

  def __init__(self, problem, candidates, name='listed'):
    super().__init__(problem)
    self.name = name
    self.candidates = [np.array(c, np.int32) for c in candidates]
    self.told = []

  def suggest(self, count):
    taken, self.candidates = self.candidates[:count], self.candidates[count:]
    return [base.Suggestion(candidate) for candidate in taken]

  def update(self, trials):
    self.told += [(t.policy, tuple(t.candidate.tolist())) for t in trials]
    return {'told': float(len(self.told))}


class LoopTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.problem = problems.two_chains(2, flops=1e10)
    self.clock = fake_measurer.FakeClock()
    self.seen = []

  def _search(self, policies=(), measurer=None, baselines=None, **options):
    self.measurer = measurer or fake_measurer.FakeMeasurer(clock=self.clock)
    if baselines is None:
      baselines = registry.baselines(self.problem)
    return loop.search(
      self.problem,
      self.measurer,
      policies,
      baselines=baselines,
      on_trial=lambda *arguments: self.seen.append(arguments),
      **options,
    )

  def test_baselines_come_first(self):
    policy = _Listed(self.problem, [[0, 1, 0, 1]])
    result = self._search([policy])
    self.assertEqual(
      [trial.policy for trial in result.trials],
      ['single_device', 'single_device', 'expert', 'listed'],
    )
    self.assertEqual([t.index for t in result.trials], [0, 1, 2, 3])
    self.assertEqual(result.chosen.label, 'expert layers')
    self.assertTrue(result.improved)
    # The policy saw the baselines before it was asked.
    self.assertEqual(policy.told[0], ('single_device', (0, 0, 0, 0)))
    self.assertEqual(policy.told[-1], ('listed', (0, 1, 0, 1)))

  def test_trials_are_paired_with_the_best_single_device(self):
    def step(_, candidate):
      return {(0,): 3.0, (1,): 2.0}.get(tuple(set(candidate.tolist())), 1.0)

    result = self._search(measurer=fake_measurer.FakeMeasurer(step, drift=0.5))
    references = [
      trial.measurement.details.get('reference_trial')
      for trial in result.trials
    ]
    self.assertEqual(references, [None, 0, 1])
    self.assertEqual(result.reference_label, 'single_device /job:worker/task:1')
    self.assertAlmostEqual(result.chosen.ratio, 0.5, delta=0.03)

  def test_known_candidates_are_not_measured_again(self):
    one = _Listed(self.problem, [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 0, 1]])
    two = _Listed(self.problem, [[0, 1, 0, 1], [1, 1, 1, 1]], name='other')
    result = self._search([one, two])
    keys = [t.candidate.tobytes() for t in result.trials]
    self.assertLen(set(keys), len(keys))
    self.assertLen(result.trials, 4)
    # Each is told of the other's trials, and again when it suggests the same.
    self.assertEqual(one.told.count(('other', (0, 1, 0, 1))), 3)
    self.assertEqual(two.told.count(('other', (0, 1, 0, 1))), 1)
    self.assertIn(('single_device', (1, 1, 1, 1)), two.told)

  def test_equal_baselines_are_noted(self):
    self.problem = problems.chain(2, original_devices=['/cpu:0', '/cpu:0'])
    result = self._search()
    self.assertIn(
      'original is the same placement as single_device /job:worker/task:0.',
      result.notes,
    )

  def test_notes_of_baselines_are_kept(self):
    self.problem = problems.chain(2, original_devices=['/gpu:0', ''])
    self.assertRegex(self._search().notes[0], 'All devices.*/gpu:0')

  def test_endless_policy_that_repeats_itself_ends(self):
    self.problem = problems.chain(2)
    policy = registry.make('random', self.problem)
    self.assertLen(self._search([policy]).trials, 4)

  def test_policies_take_turns(self):
    rng = np.random.default_rng(0)
    lists = [rng.integers(2, size=(3, 4)) for _ in range(2)]
    lists[0][:, 0], lists[1][:, 0] = 0, 1
    lists[0][:, 1:] = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    lists[1][:, 1:] = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    policies = [
      _Listed(self.problem, lists[0], 'one'),
      _Listed(self.problem, lists[1], 'two'),
    ]
    result = self._search(policies, baselines=[])
    self.assertEqual(
      [trial.policy for trial in result.trials], ['one', 'two'] * 3
    )

  def test_batches_are_measured_together(self):
    self.problem = problems.two_chains(4)
    policy = registry.make('random', self.problem)
    result = self._search(
      [policy],
      config=loop.SearchConfig(batch_size=4),
      budget=budget_lib.Budget(trials=9),
    )
    self.assertLen(result.trials, 9)

  def test_trial_budget(self):
    policy = registry.make('random', self.problem)
    budget = budget_lib.Budget(trials=6)
    result = self._search([policy], budget=budget)
    self.assertLen(result.trials, 6)
    self.assertEqual(self.seen[-1][3], 0)

  def test_single_devices_are_measured_whatever_the_budget(self):
    budget = budget_lib.Budget(trials=1)
    result = self._search(
      [registry.make('random', self.problem)], budget=budget
    )
    self.assertEqual([t.policy for t in result.trials], ['single_device'] * 2)
    self.assertFalse(result.improved)

  def test_time_budget_keeps_time_for_the_final_measurement(self):
    self.problem = problems.two_chains(8)
    budget = budget_lib.Budget(seconds=180, clock=self.clock)
    result = self._search(
      [registry.make('random', self.problem)], budget=budget
    )
    # 5 s a candidate: 36 fit, of which four are the final measurement.
    self.assertBetween(len(result.trials), 28, 34)
    self.assertLessEqual(result.elapsed_seconds, 180)
    self.assertTrue(result.chosen.remeasured)
    left = [seconds for _, _, seconds, _ in self.seen]
    self.assertEqual(left, sorted(left, reverse=True))

  def test_failures_are_trials_too(self):
    def failure(candidate):
      if candidate[0] != candidate[1]:
        return measurement.Status.TIMEOUT, 'no end'
      return None

    measurer = fake_measurer.FakeMeasurer(failure=failure)
    policy = _Listed(self.problem, [[0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]])
    result = self._search([policy], measurer)
    statuses = [t.measurement.status.value for t in result.trials]
    self.assertEqual(statuses, ['ok', 'ok', 'ok', 'timeout', 'timeout', 'ok'])
    self.assertTrue(result.improved)

  def test_nothing_runs(self):
    measurer = fake_measurer.FakeMeasurer(
      failure=lambda _: (measurement.Status.UNSUPPORTED_OP, 'no kernel')
    )
    with self.assertRaisesRegex(
      errors.NoFeasiblePlacementError, 'unsupported_op: no kernel'
    ):
      self._search([], measurer)

  def test_splits_are_found_when_no_single_device_runs(self):
    def failure(candidate):
      if len(set(candidate.tolist())) == 1:
        return measurement.Status.OUT_OF_MEMORY, 'full'
      return None

    policy = registry.make('random', self.problem)
    result = self._search(
      [policy],
      fake_measurer.FakeMeasurer(failure=failure),
      budget=budget_lib.Budget(trials=12),
    )
    self.assertTrue(result.chosen.measurement.ok)
    self.assertEmpty(result.reference_label)
    self.assertIn(tuple(result.chosen.candidate), [(0, 0, 1, 1), (1, 1, 0, 0)])

  def test_interrupt_ends_with_what_is_known(self):
    def interrupt(count):
      if count == 4:
        raise KeyboardInterrupt

    measurer = fake_measurer.FakeMeasurer(on_measure=interrupt)
    result = self._search([registry.make('random', self.problem)], measurer)
    self.assertLen(result.trials, 4)
    self.assertTrue(result.interrupted)
    self.assertTrue(result.improved)

  def test_interrupt_before_anything_ran(self):
    def interrupt(_):
      raise KeyboardInterrupt

    with self.assertRaises(KeyboardInterrupt):
      self._search([], fake_measurer.FakeMeasurer(on_measure=interrupt))

  def test_progress_is_reported(self):
    self._search()
    trials, ratios, seconds, left = zip(*self.seen)
    self.assertEqual([t.index for t in trials], [0, 1, 2])
    self.assertEqual(ratios[0], 1.0)
    self.assertAlmostEqual(ratios[-1], 0.5, delta=0.05)
    self.assertEqual((seconds[0], left[0]), (None, None))

  def test_empty_graph(self):
    self.problem = problems.build([], [])
    result = self._search([registry.make('random', self.problem)])
    self.assertLen(result.trials, 1)
    self.assertEqual(result.chosen.policy, 'single_device')

  def test_goes_on_from_a_log(self):
    path = pathlib.Path(self.create_tempdir().full_path) / 'trials.jsonl'
    header = trial_log.Header(self.problem.fingerprint)
    with trial_log.TrialLog(path, header) as log:
      first = self._search(
        [registry.make('random', self.problem)],
        budget=budget_lib.Budget(seconds=1000, trials=5, clock=self.clock),
        log=log,
      )
    before = self.measurer.calls[:5]
    self.clock.now += 500  # The time between the runs doesn't count.
    with trial_log.TrialLog(path, header) as log:
      second = self._search(
        [registry.make('random', self.problem)],
        budget=budget_lib.Budget(seconds=1000, trials=9, clock=self.clock),
        log=log,
      )
    self.assertLen(first.trials, 5)
    self.assertLen(second.trials, 9)
    self.assertEqual([t.index for t in second.trials], list(range(9)))
    self.assertNoCommonElements(self.measurer.calls[:4], before)
    elapsed = [t.elapsed_seconds for t in second.trials]
    self.assertEqual(elapsed, [5.0 * (i + 1) for i in range(9)])

  def test_long_steps_are_timed_less_often(self):
    for seconds, count in ((3.0, 3), (0.5, 5), (0.01, 20)):
      measurer = fake_measurer.FakeMeasurer(
        lambda *_, seconds=seconds: seconds, noise=0, drift=0
      )
      result = self._search([], measurer)
      lengths = [len(t.measurement.step_times_seconds) for t in result.trials]
      self.assertEqual(lengths, [8, count, count])
    config = loop.SearchConfig(steps=7)
    result = self._search([], measurer, config=config)
    lengths = [len(t.measurement.step_times_seconds) for t in result.trials]
    self.assertEqual(lengths, [7, 7, 7])

  def test_takes_no_time_of_its_own(self):
    started = time.monotonic()
    self._search(
      [registry.make('random', self.problem)],
      budget=budget_lib.Budget(trials=16),
    )
    self.assertLess(time.monotonic() - started, 2.0)


if __name__ == '__main__':
  absltest.main()
