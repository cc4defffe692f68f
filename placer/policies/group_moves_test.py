import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.policies import group_moves
from placer.testing import problems


class GroupMovesTest(parameterized.TestCase):
  @parameterized.parameters(1, 2, 5)
  def test_moves_are_legal_and_change_something(self, devices):
    rng = np.random.default_rng(0)
    problem = problems.layered_random(8, 4, seed=1, devices=devices)
    allowed = rng.random((problem.num_groups, devices)) < 0.6
    allowed[:, 0] = True
    moves = group_moves.GroupMoves(problem, allowed)
    start = np.zeros((200, problem.num_groups), np.int32)
    current = start
    for _ in range(20):
      current = moves.propose(current, rng)
    rows = np.arange(problem.num_groups)
    self.assertTrue(allowed[rows, current].all())
    self.assertEqual(current.dtype, np.int32)
    self.assertFalse(start.any())
    free = allowed.sum(axis=1) > 1
    self.assertTrue(current[:, free].any(axis=0).all())

  def test_sets_are_groups_runs_branches_and_regions(self):
    problem = problems.modules(2, width=2, length=2)
    allowed = np.ones((problem.num_groups, 2), bool)
    sets = {
      row.tobytes() for row in group_moves.GroupMoves(problem, allowed).sets
    }

    def has(*groups) -> bool:
      row = np.zeros(problem.num_groups, bool)
      row[list(groups)] = True
      return row.tobytes() in sets

    for group in range(problem.num_groups):
      self.assertTrue(has(group))
    # fork 0; branches 1-2 and 3-4; join 5.
    self.assertTrue(has(1, 2))
    self.assertTrue(has(3, 4))
    self.assertTrue(has(0, 1))
    self.assertFalse(has())

  def test_equal_seeds_move_the_same(self):
    problem = problems.modules(2)
    allowed = np.ones((problem.num_groups, 3), bool)
    start = np.zeros((16, problem.num_groups), np.int32)
    one, other = (
      group_moves.GroupMoves(problem, allowed).propose(
        start, np.random.default_rng(5)
      )
      for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)

  def test_nothing_to_move(self):
    problem = problems.build([], [])
    moves = group_moves.GroupMoves(problem, np.ones((0, 2), bool))
    start = np.zeros((3, 0), np.int32)
    self.assertEqual(
      moves.propose(start, np.random.default_rng(0)).shape, (3, 0)
    )


if __name__ == '__main__':
  absltest.main()
