"""The best candidates: order, no two equal, and their state."""

import numpy as np
from absl.testing import absltest

from placer.policies.learning import best_candidates
from placer.policies.learning import rewards


def _add(best, rows, seconds, feasible=None) -> None:
  seconds = np.array(seconds, np.float64)
  if feasible is None:
    feasible = np.isfinite(seconds)
  best.add(
    np.array(rows, np.int32),
    rewards.Outcomes(
      seconds,
      np.array(feasible),
      np.zeros((len(rows), 2), np.int64),
      np.ones(2, np.int64),
    ),
  )


class BestCandidatesTest(absltest.TestCase):
  def test_keeps_the_fastest_that_run(self):
    best = best_candidates.BestCandidates(2, most=2)
    self.assertEqual(best.best_seconds, np.inf)
    _add(best, [[0, 0], [0, 1], [1, 1]], [3.0, 1.0, 0.5], [True, True, False])
    _add(best, [[0, 1], [1, 0]], [1.0, 2.0])
    np.testing.assert_array_equal(best.candidates, [[0, 1], [1, 0]])
    np.testing.assert_array_equal(best.seconds, [1.0, 2.0])
    self.assertEqual(best.best_seconds, 1.0)

  def test_goes_on_from_its_state(self):
    one = best_candidates.BestCandidates(2)
    _add(one, [[0, 1]], [1.0])
    other = best_candidates.BestCandidates(2)
    other.set_state(one.state())
    np.testing.assert_array_equal(one.candidates, other.candidates)
    self.assertEqual(one.best_seconds, other.best_seconds)


if __name__ == '__main__':
  absltest.main()
