"""Baselines by hand, and their state."""

import numpy as np
from absl.testing import absltest

from placer.policies.learning import baselines


class EmaBaselineTest(absltest.TestCase):
  def test_is_a_moving_average(self):
    baseline = baselines.EmaBaseline(0.9)
    np.testing.assert_allclose(baseline.advantages([1.0, 3.0]), [-1, 1])
    baseline.update([1.0, 3.0])
    self.assertEqual(baseline.value, 2.0)
    baseline.update([4.0])
    self.assertAlmostEqual(baseline.value, 0.9 * 2 + 0.1 * 4)
    np.testing.assert_allclose(baseline.advantages([3.0]), [0.8])

  def test_goes_on_from_its_state(self):
    for updates in (0, 2):
      one, other = baselines.EmaBaseline(), baselines.EmaBaseline()
      for i in range(updates):
        one.update([float(i)])
      other.set_state(one.state())
      self.assertEqual(one.value, other.value)


class PerStepBaselineTest(absltest.TestCase):
  def test_is_the_mean_of_the_last_episodes_of_the_same_graph(self):
    baseline = baselines.PerStepBaseline(2)
    baseline.update([[9.0, 9.0], [1.0, 2.0]], graph=3)
    baseline.update([[3.0, 6.0]], graph=3)
    baseline.update([[100.0, 100.0]], graph=4)
    np.testing.assert_allclose(baseline.value(3), [2.0, 4.0])
    np.testing.assert_allclose(
      baseline.advantages([[5.0, 5.0]], graph=3), [[3.0, 1.0]]
    )

  def test_takes_the_own_mean_at_first(self):
    baseline = baselines.PerStepBaseline()
    self.assertIsNone(baseline.value())
    np.testing.assert_allclose(
      baseline.advantages([[1.0], [3.0]]), [[-1.0], [1.0]]
    )

  def test_goes_on_from_its_state(self):
    one, other = baselines.PerStepBaseline(3), baselines.PerStepBaseline(3)
    one.update([[1.0, 2.0]], graph=7)
    other.set_state(one.state())
    for baseline in (one, other):
      baseline.update([[3.0, 3.0]], graph=7)
    np.testing.assert_array_equal(one.value(7), other.value(7))


if __name__ == '__main__':
  absltest.main()
