import numpy as np
from absl.testing import absltest

from placer.core import errors
from placer.core import measurement
from placer.core import trial as trial_lib
from placer.search import final_choice
from placer.search import final_plan
from placer.search import history as history_lib
from placer.testing import fake_measurer
from placer.testing import problems

_OOM = measurement.Measurement(
  measurement.Status.OUT_OF_MEMORY, 'no memory on device 0'
)


class FinalChoiceTest(absltest.TestCase):
  """Four candidates of two groups, with the true step times of a test."""

  def setUp(self):
    super().setUp()
    self.problem = problems.two_chains(1)
    self.truth = {(0, 0): 1.0, (1, 1): 1.0, (0, 1): 0.6, (1, 0): 0.6}
    self.trialled = {}
    self.failing = set()

  def _measurer(self, **options):
    options.setdefault('noise', 0.01)
    return fake_measurer.FakeMeasurer(
      lambda _, candidate: self.truth[tuple(candidate.tolist())],
      failure=lambda candidate: (
        (measurement.Status.DEVICE_LOST, 'gone')
        if tuple(candidate.tolist()) in self.failing
        else None
      ),
      **options,
    )

  def _history(self, names=None):
    """Trials as `trialled`, else the truth, without noise."""
    history = history_lib.History()
    for index, (key, seconds) in enumerate(self.truth.items()):
      single = key[0] == key[1]
      seconds = self.trialled.get(key, seconds)
      measured = _OOM
      if seconds is not None:
        reference = history.reference()
        measured = measurement.Measurement(
          measurement.Status.OK,
          step_times_seconds=(seconds,) * 8,
          reference_times_seconds=(
            (reference.measurement.step_time_seconds,) * 8 if reference else ()
          ),
          peak_memory_bytes={'d': 5},
        )
        measured = history_lib.with_reference(measured, reference)
      history.add(
        trial_lib.Trial(
          index,
          'single_device' if single else 'random',
          np.array(key, np.int32),
          measured,
          elapsed_seconds=index + 1.0,
          label=f'on {key}' if single else '',
        )
      )
    return history

  def _choose(self, measurer=None, **options):
    return final_choice.choose(
      self.problem, measurer or self._measurer(), self._history(), **options
    )

  def test_a_faster_split_wins(self):
    self.truth[(1, 0)] = 0.5
    result = self._choose(elapsed=lambda: 12.5)
    self.assertEqual(tuple(result.chosen.candidate), (1, 0))
    self.assertEqual(result.chosen.label, 'random #3')
    self.assertTrue(result.improved)
    self.assertTrue(result.chosen.remeasured)
    self.assertAlmostEqual(result.chosen.ratio, 0.5, delta=0.02)
    self.assertLess(result.chosen.interval[0], 0.5)
    self.assertBetween(result.chosen.interval[1], 0.5, 0.52)
    self.assertLen(result.chosen.measurement.step_times_seconds, 20)
    self.assertEqual(result.reference_label, 'on (0, 0)')
    self.assertEqual(result.elapsed_seconds, 12.5)
    self.assertIn(result.chosen, result.rows)
    self.assertEmpty(result.notes)

  def test_what_only_looked_faster_does_not_win(self):
    self.trialled = {(0, 1): 0.7}
    self.truth.update({(0, 1): 1.05, (1, 0): 1.3})
    result = self._choose()
    self.assertFalse(result.improved)
    self.assertEqual(result.chosen.label, 'on (0, 0)')
    self.assertGreater(result.rows[-1].ratio, 1)

  def test_an_interval_around_one_is_no_win_and_is_said(self):
    self.trialled = {(0, 1): 0.9, (1, 0): 2.0}
    self.truth.update({(0, 1): 0.995})
    result = self._choose(self._measurer(noise=0.1, seed=3))
    (row,) = [row for row in result.rows if row.policy == 'random']
    self.assertLess(row.ratio, 1)
    self.assertGreater(row.interval[1], 1)
    self.assertFalse(result.improved)
    self.assertEqual(result.chosen.policy, 'single_device')
    self.assertRegex(result.notes[0], 'random #2 looked faster.*not exclude 1')

  def test_never_worse_over_many_searches(self):
    # No split is faster; each looked so. Seldom may one be chosen by chance.
    self.trialled = {(0, 1): 0.9, (1, 0): 0.9}
    self.truth.update({(0, 1): 1.0, (1, 0): 1.0})
    wrong = sum(
      self._choose(self._measurer(noise=0.05, seed=seed), seed=seed).improved
      for seed in range(60)
    )
    self.assertLessEqual(wrong, 8)
    self.truth.update({(0, 1): 1.05, (1, 0): 1.05})
    wrong = sum(
      self._choose(self._measurer(noise=0.05, seed=seed), seed=seed).improved
      for seed in range(60)
    )
    self.assertEqual(wrong, 0)

  def test_second_single_device_may_turn_out_the_better(self):
    self.trialled = {(1, 1): 1.02, (1, 0): 2.0}
    self.truth.update({(1, 1): 0.7, (0, 1): 0.8})
    result = self._choose()
    self.assertEqual(result.reference_label, 'on (1, 1)')
    self.assertEqual(result.chosen.label, 'on (1, 1)')
    self.assertFalse(result.improved)
    first, second, split = result.rows
    self.assertAlmostEqual(first.ratio, 1 / 0.7, delta=0.04)
    self.assertAlmostEqual(first.measurement.step_time_seconds, 1, delta=0.1)
    self.assertEqual(first.measurement.peak_memory_bytes, {'d': 5})
    self.assertEqual(second.ratio, 1.0)
    self.assertAlmostEqual(split.ratio, 0.8 / 0.7, delta=0.03)

  def test_best_feasible_wins_if_no_single_device_runs(self):
    self.trialled = {(0, 0): None, (1, 1): None}
    self.truth.update({(0, 1): 2.0, (1, 0): 1.0})
    result = self._choose()
    self.assertEqual(tuple(result.chosen.candidate), (1, 0))
    self.assertFalse(result.improved)
    self.assertEmpty(result.reference_label)
    self.assertIn('No single device can run this graph.', result.notes)
    self.assertIsNone(result.rows[0].ratio)

  def test_nothing_ran(self):
    self.trialled = dict.fromkeys(self.truth)
    with self.assertRaisesRegex(
      errors.NoFeasiblePlacementError,
      r'None of the 4 .*\n  out_of_memory: no memory on device 0 '
      r'\(on \(0, 0\), on \(1, 1\), random #2 and 1 more\)\n.*add devices',
    ):
      self._choose()

  def test_a_finalist_that_fails_now_does_not_win(self):
    self.failing = {(0, 1), (1, 0)}
    result = self._choose()
    self.assertFalse(result.improved)
    self.assertIsNone(result.rows[-1].ratio)

  def test_interrupted_search_measures_nothing(self):
    measurer = self._measurer()
    result = self._choose(measurer, planned=None)
    self.assertEmpty(measurer.calls)
    self.assertTrue(result.interrupted)
    self.assertTrue(result.improved)
    self.assertEqual(tuple(result.chosen.candidate), (0, 1))
    self.assertRegex(result.notes[0], '^Interrupted')

  def test_interrupt_while_re_measuring(self):
    def interrupt(count):
      if count == 2:
        raise KeyboardInterrupt

    result = self._choose(self._measurer(on_measure=interrupt))
    self.assertTrue(result.interrupted)
    self.assertTrue(result.improved)

  def test_plan_says_how_much_is_measured(self):
    measurer = self._measurer()
    self._choose(measurer, planned=final_plan.Plan(1, False, 7))
    self.assertEqual(measurer.calls, [(0, 1)])
    result = self._choose(
      self._measurer(), planned=final_plan.Plan(1, False, 7)
    )
    self.assertLen(result.chosen.measurement.step_times_seconds, 7)

  def test_rows_are_singles_then_what_was_compared(self):
    result = self._choose()
    self.assertEqual(
      [row.label for row in result.rows],
      ['on (0, 0)', 'on (1, 1)', 'random #2', 'random #3'],
    )
    # The reference's row holds all its steps beside three others.
    self.assertLen(result.rows[0].measurement.step_times_seconds, 60)
    self.assertEqual(result.rows[0].ratio, 1.0)

  def test_placement_names_graph_and_devices(self):
    placement = self._choose().placement
    self.assertEqual(
      placement.graph_fingerprint, self.problem.graph.fingerprint
    )
    self.assertEqual(placement.devices_spec, 'local:2')
    self.assertLen(placement.devices, 2)

  def test_equal_seeds_choose_the_same(self):
    one = self._choose(self._measurer(seed=2), seed=4)
    other = self._choose(self._measurer(seed=2), seed=4)
    self.assertEqual(one.chosen.interval, other.chosen.interval)


if __name__ == '__main__':
  absltest.main()
