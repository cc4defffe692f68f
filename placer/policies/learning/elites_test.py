"""Elites: order, rows shared by several placements, and their state."""

import numpy as np
from absl.testing import absltest

from placer.policies.learning import elites


def _chosen(*numbers) -> list[np.ndarray]:
  return [np.array([[n, n] for n in numbers], np.int32)]


class ElitesTest(absltest.TestCase):
  def test_keeps_the_best_different_ones(self):
    kept = elites.Elites(2)
    kept.add(np.array([1.0, 3.0, 3.0]), _chosen(1, 2, 2), np.ones(3, bool))
    kept.add(np.array([2.0, 9.0]), _chosen(4, 5), np.array([True, False]))
    np.testing.assert_array_equal(kept.rewards, [3.0, 2.0])
    np.testing.assert_array_equal(kept.chosen[0][:, 0], [2, 4])

  def test_a_row_may_belong_to_placements_that_follow_each_other(self):
    kept = elites.Elites(1)
    groupings = np.array([[7], [8]], np.int32)
    placed = np.arange(4, dtype=np.int32)[:, np.newaxis]
    kept.add(np.array([0, 0, 5.0, 0]), [groupings, placed], np.ones(4, bool))
    self.assertEqual([int(part[0, 0]) for part in kept.chosen], [8, 2])

  def test_is_filled_up_with_the_best(self):
    kept = elites.Elites(3)
    self.assertEqual(kept.filled(), ())
    kept.add(np.array([1.0, 2.0]), _chosen(1, 2), np.ones(2, bool))
    np.testing.assert_array_equal(kept.filled()[0][:, 0], [2, 1, 2])

  def test_goes_on_from_its_state(self):
    one, other = elites.Elites(3), elites.Elites(3)
    one.add(np.array([1.0, 2.0]), _chosen(1, 2), np.ones(2, bool))
    other.set_state(one.state())
    np.testing.assert_array_equal(one.rewards, other.rewards)
    np.testing.assert_array_equal(one.chosen[0], other.chosen[0])
    empty = elites.Elites(3)
    empty.set_state(elites.Elites(3).state())
    self.assertEqual(empty.chosen, ())


if __name__ == '__main__':
  absltest.main()
