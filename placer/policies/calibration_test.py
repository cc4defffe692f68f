import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import measurement
from placer.core import trial
from placer.policies import calibration
from placer.policies import estimate
from placer.testing import problems


def _trial(candidate, seconds, reference=(), policy='x'):
  return trial.Trial(
    0,
    policy,
    np.array(candidate, np.int32),
    measurement.Measurement(
      measurement.Status.OK,
      step_times_seconds=(seconds,),
      reference_times_seconds=reference,
    ),
  )


class CalibrationTest(parameterized.TestCase):
  def test_drift_is_taken_out_by_the_reference(self):
    failed = trial.Trial(
      9,
      'x',
      np.array([0, 1], np.int32),
      measurement.Measurement(measurement.Status.TIMEOUT, 'no end'),
    )
    seconds = calibration.step_seconds(
      [
        _trial([0, 0], 2.0, (), 'single_device'),
        _trial([1, 1], 5.0, (20.0,), 'single_device'),
        failed,
        _trial([0, 1], 1.5, (2.0,)),
        _trial([1, 0], 3.0, (4.0,)),
        _trial([1, 0], 1.0, (2.0,)),
        # A reference ten times as slow isn't the same one.
        _trial([1, 0], 1.0, (20.0,)),
        _trial([1, 0], 1.0),
      ]
    )
    # The median reference takes 3 s.
    self.assertEqual(
      seconds, {0: 2.0, 1: 5.0, 3: 2.25, 4: 2.25, 5: 1.5, 6: 1.0, 7: 1.0}
    )

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
