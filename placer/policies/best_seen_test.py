"""Tests of best_seen.py."""

import numpy as np
from absl.testing import absltest

from placer.policies import best_seen


class BestSeenTest(absltest.TestCase):
  def test_keeps_the_best_different_ones(self):
    kept = best_seen.BestSeen(most=3)
    for value in (5, 3, 9, 1, 4, 1, 8):
      kept.add(np.full((1, 2), value, np.int32), np.array([float(value)]))
    rows = kept.candidates()
    np.testing.assert_array_equal([row[0] for row in rows], [1, 3, 4])
    self.assertEqual(kept.value, 1)
    # The worst of the three has to be beaten.
    self.assertEqual(kept.bar, 4)


if __name__ == '__main__':
  absltest.main()
