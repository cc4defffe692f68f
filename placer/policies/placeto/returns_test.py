"""Tests of returns.py."""

import numpy as np
from absl.testing import absltest

from placer.policies.placeto import returns


class ReturnsTest(absltest.TestCase):
  def test_to_go(self):
    rewards = np.array([[1.0, 2.0, 4.0]])
    self.assertEqual(returns.to_go(rewards, 1.0).tolist(), [[7, 6, 4]])
    self.assertEqual(returns.to_go(rewards, 0.5).tolist(), [[3, 4, 4]])
    self.assertEqual(returns.to_go(rewards, 0.0).tolist(), [[1, 2, 4]])

  def test_among_equals(self):
    found = returns.among_equals(np.array([[1.0, 0.0], [3.0, 0.0]]))
    self.assertEqual(found[:, 1].tolist(), [0, 0])
    self.assertEqual(found[0, 0], -found[1, 0])
    np.testing.assert_allclose(np.mean(found**2), 1)
    # The unit and what all have in common do not matter.
    rows = np.random.default_rng(0).random((4, 6))
    np.testing.assert_allclose(
      returns.among_equals(rows), returns.among_equals(7 * rows + 3), atol=1e-9
    )

  def test_nothing_to_compare_with(self):
    self.assertFalse(returns.among_equals(np.array([[1.0, 2.0]])).any())
    self.assertFalse(returns.among_equals(np.ones((3, 2))).any())


if __name__ == '__main__':
  absltest.main()
