import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import measurement
from placer.core import trial
from placer.policies import calibration
from placer.policies import estimate
from placer.testing import problems


def _trial(index, seconds, reference=(), link=None):
  details = {} if link is None else {trial.REFERENCE_KEY: link}
  return trial.Trial(
    index,
    'x',
    np.array([0, 1], np.int32),
    measurement.Measurement(
      measurement.Status.OK,
      step_times_seconds=(seconds,),
      reference_times_seconds=reference,
      details=details,
    ),
  )


class CalibrationTest(parameterized.TestCase):
  def test_ratios_to_the_references_are_followed_to_the_first_trial(self):
    failed = trial.Trial(
      2,
      'x',
      np.array([0, 1], np.int32),
      measurement.Measurement(measurement.Status.TIMEOUT, 'no end'),
    )
    seconds = calibration.step_seconds(
      [
        # The first one, of a cold host: its references say 4, 5 and 6 s.
        _trial(0, 8.0),
        _trial(1, 2.0, (4.0,), 0),
        failed,
        _trial(3, 5.0, (2.5,), 1),
        _trial(4, 1.5, (3.0,), 1),
      ]
    )
    # The median of 8, 4, 5, 6 s is 5.5; trial 1 takes half of it.
    self.assertEqual(seconds, {0: 5.5, 1: 2.75, 3: 5.5, 4: 1.375})

  def test_without_references_times_are_as_measured(self):
    seconds = calibration.step_seconds(
      [
        _trial(0, 0.3),
        _trial(1, 0.1, (), 0),
        # Of another search: what trial 7 was isn't known.
        _trial(8, 0.7, (0.2,), 7),
      ]
    )
    self.assertEqual(seconds, {0: 0.3, 1: 0.1, 2: 0.7})

  def test_a_device_with_nearly_all_work_counts_as_single(self):
    problem = problems.chain(3, flops=[1e6, 1e10, 1e10])
    schedule = estimate.Schedule(problem)
    state = np.array([0, 1, 1])
    self.assertEqual(schedule.main_device(state), 1)
    self.assertIsNone(schedule.main_device(np.array([0, 0, 1])))
    seen = calibration.Observation(state, 3 * schedule.makespan(state))
    found = calibration.fit(schedule, [seen], 2)
    np.testing.assert_allclose(found.compute, [3.0, 3.0])

  @parameterized.parameters(0.25, 1.0, 4.0)
  def test_finds_the_factors(self, transfer):
    problem = problems.modules(3, tensor_bytes=20_000_000)
    schedule = estimate.Schedule(problem)
    truth = estimate.Scale((2.0, 3.0), transfer)
    rng = np.random.default_rng(0)
    count = len(problem.graph)
    states = [np.zeros(count, int), np.ones(count, int)]
    states += list(rng.integers(2, size=(5, count)))
    observations = [
      calibration.Observation(state, schedule.makespan(state, truth))
      for state in states
    ]
    found = calibration.fit(schedule, observations, 2)
    np.testing.assert_allclose(found.compute, truth.compute)
    self.assertEqual(found.transfer, transfer)

  def test_without_observations_nothing_is_changed(self):
    schedule = estimate.Schedule(problems.chain())
    found = calibration.fit(schedule, [], 2)
    self.assertEqual(found, estimate.Scale((1.0, 1.0), 1.0))

  def test_devices_that_ran_nothing_alone_get_the_mean(self):
    problem = problems.chain(4, devices=3)
    schedule = estimate.Schedule(problem)
    one = schedule.makespan(np.zeros(4, int))
    observations = [
      calibration.Observation(np.full(4, d), one * factor)
      for d, factor in ((0, 1.0), (2, 3.0))
    ]
    found = calibration.fit(schedule, observations, 3)
    np.testing.assert_allclose(found.compute, [1.0, 2.0, 3.0])

  def test_splits_alone_give_one_factor(self):
    problem = problems.chain(4)
    schedule = estimate.Schedule(problem)
    state = np.array([0, 0, 1, 1])
    seen = calibration.Observation(state, 5 * schedule.makespan(state))
    found = calibration.fit(schedule, [seen], 2)
    np.testing.assert_allclose(found.compute, [5.0, 5.0])


if __name__ == '__main__':
  absltest.main()
