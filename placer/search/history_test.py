import numpy as np
from absl.testing import absltest

from placer.core import measurement
from placer.core import trial as trial_lib
from placer.search import history as history_lib

_FAILED = measurement.Measurement(measurement.Status.CRASHED, 'why')


def _ok(steps, references=(), reference=None, program=''):
  details = {} if reference is None else {'reference_trial': reference}
  return measurement.Measurement(
    measurement.Status.OK,
    step_times_seconds=(steps,),
    reference_times_seconds=references,
    partition_hash=program,
    details=details,
  )


def _history(*rows):
  history = history_lib.History()
  for index, (policy, measured) in enumerate(rows):
    candidate = np.array([index], np.int32)
    history.add(
      trial_lib.Trial(index, policy, candidate, measured, 10.0 * (index + 1))
    )
  return history


class HistoryTest(absltest.TestCase):
  def test_ratios_multiply_along_the_references(self):
    history = _history(
      ('single_device', _ok(2.0)),
      ('single_device', _ok(1.0, (2.0,), 0)),
      # The host has become slower: twice the time, the same ratio.
      ('expert', _ok(1.0, (2.0,), 1)),
    )
    one, other, split = history.trials
    self.assertEqual(history.reference(), other)
    self.assertEqual(history.ratio(one), 2.0)
    self.assertEqual(history.ratio(other), 1.0)
    self.assertEqual(history.ratio(split), 0.5)
    self.assertEqual(history.ranked(), [split, other, one])
    self.assertEqual(history.singles(), [other, one])
    self.assertEqual(history.best_ratio(), 0.5)

  def test_without_reference_steps_absolute_times_are_divided(self):
    history = _history(('single_device', _ok(2.0)), ('expert', _ok(1.0, (), 0)))
    self.assertEqual(history.ratio(history.trials[1]), 0.5)

  def test_first_that_runs_is_the_reference_if_no_single_device_does(self):
    history = _history(
      ('single_device', _FAILED),
      ('expert', _ok(4.0)),
      ('random', _ok(1.0, (2.0,), 1)),
    )
    self.assertEqual(history.reference().policy, 'expert')
    self.assertIsNone(history.ratio(history.trials[0]))
    self.assertEqual(history.ratio(history.trials[2]), 0.5)

  def test_nothing_ran(self):
    history = _history(('single_device', _FAILED))
    self.assertIsNone(history.reference())
    self.assertIsNone(history.best_ratio())
    self.assertEmpty(history.ranked())

  def test_equal_programs_are_ranked_once_but_singles_always(self):
    history = _history(
      ('single_device', _ok(1.0, program='p')),
      ('random', _ok(0.9, (1.0,), 0, program='q')),
      ('random', _ok(0.8, (1.0,), 0, program='q')),
      ('random', _ok(0.7, (1.0,), 0, program='p')),
    )
    self.assertEqual([t.index for t in history.ranked()], [3, 2, 0])

  def test_finds_candidates(self):
    history = _history(('x', _ok(1.0)), ('x', _FAILED))
    self.assertEqual(history.find(np.array([1])).index, 1)
    self.assertIsNone(history.find(np.array([7])))

  def test_trial_seconds(self):
    self.assertEqual(history_lib.History().trial_seconds(), 0.0)
    self.assertEqual(
      _history(('x', _ok(1.0)), ('x', _FAILED)).trial_seconds(), 10.0
    )

  def test_order_and_time_of_many_trials(self):
    rng = np.random.default_rng(0)
    seconds = rng.uniform(1, 2, 50)
    history = _history(*(('x', _ok(float(s), program=str(s))) for s in seconds))
    self.assertEqual(
      [t.index for t in history.ranked()], np.argsort(seconds).tolist()
    )
    self.assertAlmostEqual(history.best_ratio(), seconds.min() / seconds[0])
    ends = np.cumsum(rng.uniform(1, 9, 50))
    history = history_lib.History()
    for i, end in enumerate(ends):
      history.add(trial_lib.Trial(i, 'x', np.array([i]), _ok(1.0), end))
    self.assertAlmostEqual(
      history.trial_seconds(), np.quantile(np.diff(ends, prepend=0), 0.75)
    )

  def test_with_reference_names_the_trial(self):
    (trial,) = _history(('x', _ok(1.0))).trials
    measured = history_lib.with_reference(_ok(2.0, (1.0,)), trial)
    self.assertEqual(measured.details, {'reference_trial': 0})
    same = history_lib.with_reference(_FAILED, None)
    self.assertIs(same, _FAILED)


if __name__ == '__main__':
  absltest.main()
