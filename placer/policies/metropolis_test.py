"""Tests of metropolis.py."""

import numpy as np
from absl.testing import absltest

from placer.policies import metropolis


class MetropolisTest(absltest.TestCase):
  def test_the_temperature_falls_geometrically(self):
    found = [metropolis.temperature(0.08, 0.02, part) for part in (0, 0.5, 1)]
    np.testing.assert_allclose(found, [0.08, 0.04, 0.02])

  def test_what_is_not_worse_is_always_accepted(self):
    rng = np.random.default_rng(0)
    current = np.array([1.0, 1.0, np.inf, 1.0])
    proposed = np.array([0.5, 1.0, np.inf, np.inf])
    found = metropolis.accepted(proposed, current, 1e-3, rng)
    np.testing.assert_array_equal(found, [True, True, True, False])

  def test_what_is_worse_is_accepted_as_often_as_it_says(self):
    rng = np.random.default_rng(0)
    current = np.zeros(20_000)
    found = metropolis.accepted(current + 0.5, current, 0.5, rng)
    self.assertAlmostEqual(found.mean(), np.exp(-1), delta=0.02)


if __name__ == '__main__':
  absltest.main()
