import hypothesis
import numpy as np
from absl.testing import absltest

from placer.testing import problems
from placer.testing import strategies


class ProblemsTest(absltest.TestCase):
  def test_shapes(self):
    for problem, ops, edges in (
      (problems.chain(5), 5, 4),
      (problems.two_chains(4), 8, 6),
      (problems.fork_join(3, 2), 8, 9),
      (problems.modules(2, width=3, length=2), 15, 18),
      (problems.build([], []), 0, 0),
    ):
      self.assertLen(problem.graph, ops)
      self.assertLen(problem.graph.edge_source, edges)
      self.assertEqual(problem.num_groups, ops)
      self.assertLen(problem.devices, 2)

  def test_layered_random_depends_on_its_seed(self):
    one = problems.layered_random(seed=1)
    self.assertEqual(
      one.fingerprint, problems.layered_random(seed=1).fingerprint
    )
    self.assertNotEqual(
      one.fingerprint, problems.layered_random(seed=2).fingerprint
    )

  @hypothesis.given(problem=strategies.problems())
  @hypothesis.settings(max_examples=100, deadline=None, derandomize=True)
  def test_random_problems_are_legal(self, problem):
    problem.check(problem.allowed.argmax(axis=1))
    first = [members[0] for members in problem.group_members]
    np.testing.assert_array_equal(first, np.sort(first))


if __name__ == '__main__':
  absltest.main()
