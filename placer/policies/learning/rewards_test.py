"""Rewards by hand; all are finite, capped and fall with the step time."""

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import measurement
from placer.core import trial
from placer.policies.learning import rewards

_LIMIT = 10_000_000_000


def _outcomes(seconds, peak=None, feasible=None) -> rewards.Outcomes:
  seconds = np.asarray(seconds, np.float64)
  if peak is None:
    peak = np.zeros((len(seconds), 2), np.int64)
  peak = np.asarray(peak, np.int64)
  if feasible is None:
    feasible = (peak <= _LIMIT).all(axis=1) & np.isfinite(seconds)
  return rewards.Outcomes(
    seconds, np.asarray(feasible), peak, np.full(2, _LIMIT)
  )


class RewardsTest(parameterized.TestCase):
  def test_negative_sqrt(self):
    found = rewards.negative_sqrt(
      _outcomes([0.5, 2.0, 900.0, np.inf]), reference_seconds=2.0, cap_ratio=9.0
    )
    np.testing.assert_allclose(found, [-0.5, -1.0, -3.0, -3.0])

  def test_relative_improvement(self):
    found = rewards.relative_improvement(
      _outcomes([1.0, 2.0, 3.0, np.inf]), reference_seconds=2.0, cap_ratio=4.0
    )
    np.testing.assert_allclose(found, [0.5, 0.0, -0.5, -3.0])

  def test_memory_penalty_of_placeto(self):
    # t + 2 * (m - M), in gigabytes of the fullest device, capped.
    peak = [[1, 2], [_LIMIT + 10**9, 5], [_LIMIT + 50 * 10**9, 5], [0, 0]]
    found = rewards.penalised_seconds(
      _outcomes([1.0, 1.0, 1.0, np.inf], peak), cap_seconds=20.0
    )
    np.testing.assert_allclose(found, [1.0, 3.0, 20.0, 20.0])

  @parameterized.parameters('negative_sqrt', 'relative_improvement')
  def test_the_less_memory_is_missing_the_better(self, name):
    peak = [[_LIMIT * 2, 0], [int(_LIMIT * 1.1), 0], [_LIMIT, 0]]
    found = getattr(rewards, name)(
      _outcomes([1.0, 1.0, 2.0], peak), reference_seconds=1.0, cap_ratio=20.0
    )
    self.assertTrue((np.diff(found) > 0).all(), found)

  def test_a_placement_that_failed_without_a_reason_has_the_cap(self):
    found = rewards.negative_sqrt(
      _outcomes([1.0], feasible=[False]), reference_seconds=1.0, cap_ratio=4.0
    )
    self.assertEqual(found[0], -2.0)

  def test_outcomes_of_trials(self):
    failed = measurement.Measurement(
      measurement.Status.OUT_OF_MEMORY, 'no memory left'
    )
    ran = measurement.Measurement(
      measurement.Status.OK, step_times_seconds=(1.0, 3.0, 2.0)
    )
    found = rewards.of_trials(
      [trial.Trial(i, '', np.zeros(1), m) for i, m in enumerate((ran, failed))],
      2,
    )
    np.testing.assert_array_equal(found.step_seconds, [2.0, np.inf])
    np.testing.assert_array_equal(found.feasible, [True, False])
    self.assertEqual(found.infeasible_rate, 0.5)


if __name__ == '__main__':
  absltest.main()
