import numpy as np
from absl.testing import absltest

from placer.core import measurement
from placer.core import trial as trial_lib
from placer.search import final_plan
from placer.search import history as history_lib


def _history(ratios, singles=2, program='', policies=()):
  history = history_lib.History()
  for index, ratio in enumerate([1.0] * singles + list(ratios)):
    details = {'reference_trial': 0} if index else {}
    measured = measurement.Measurement(
      measurement.Status.OK,
      step_times_seconds=(ratio,) * 8,
      reference_times_seconds=(1.0,) * 8 if index else (),
      partition_hash=program,
      details=details,
    )
    policy = 'single_device' if index < singles else 'random'
    if index >= singles and policies:
      policy = policies[index - singles]
    history.add(
      trial_lib.Trial(
        index,
        policy,
        np.array([index], np.int32),
        measured,
        elapsed_seconds=20.0 * (index + 1),
      )
    )
  return history


class FinalPlanTest(absltest.TestCase):
  def test_all_without_a_limit(self):
    planned, seconds = final_plan.plan(_history([0.5, 0.5]), 3, 20, None)
    self.assertEqual(planned, final_plan.Plan(3, True, 20))
    # Three runs of 20 s and 12 more pairs: two of 1.5 s, one of 2 s.
    self.assertAlmostEqual(seconds, 3 * 20 + 12 * (1.5 + 1.5 + 2))

  def test_the_best_of_each_policy_comes_first(self):
    history = _history(
      [0.5, 0.6, 0.7, 0.8],
      policies=('hill_climb', 'hill_climb', 'expert', 'hill_climb'),
    )
    found = [t.index for t in final_plan.finalists(history, 3)]
    self.assertEqual(found, [2, 4, 3])

  def test_is_cut_to_fit(self):
    history = _history([0.5, 0.6, 0.7, 0.8])
    plans = [
      final_plan.plan(history, 3, 20, limit)[0] for limit in (170, 100, 80, 50)
    ]
    self.assertEqual(
      plans,
      [
        final_plan.Plan(3, True, 20),
        final_plan.Plan(3, True, 10),
        final_plan.Plan(2, True, 10),
        final_plan.Plan(2, False, 10),
      ],
    )

  def test_is_never_less_than_one_finalist(self):
    planned, seconds = final_plan.plan(_history([0.5, 0.5]), 3, 20, 0)
    self.assertEqual(planned, final_plan.Plan(1, False, 10))
    self.assertGreater(seconds, 0)

  def test_trials_use_time_that_the_end_would_not(self):
    history = _history([0.5, 0.6, 0.7, 0.8])
    # A trial takes 20 s, two finalists 46.2 s, one 23 s.
    fits = [
      final_plan.trial_fits(history, 3, 20, left, kept=50)
      for left in (67, 60, 47, 45, 42)
    ]
    self.assertEqual(fits, [True, False, False, True, False])

  def test_takes_nothing_before_anything_ran(self):
    self.assertEqual(final_plan.plan(history_lib.History(), 3, 20, 10)[1], 0.0)

  def test_finalists_are_the_best_that_are_not_hopeless(self):
    history = _history([1.05, 0.5, 1.2, 0.9])
    found = final_plan.finalists(history, 3)
    self.assertEqual([trial.index for trial in found], [3, 5, 2])
    self.assertLen(final_plan.finalists(history, 1), 1)

  def test_the_same_program_as_a_single_device_is_no_finalist(self):
    self.assertEmpty(final_plan.finalists(_history([0.9], program='p'), 3))

  def test_without_singles_all_are_finalists(self):
    history = _history([1.0, 5.0], singles=0)
    history.trials[0].measurement.details.clear()
    self.assertLen(final_plan.finalists(history, 3), 2)


if __name__ == '__main__':
  absltest.main()
