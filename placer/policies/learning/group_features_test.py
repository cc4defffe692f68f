"""Features of small problems, by hand."""

import numpy as np
from absl.testing import absltest

from placer.policies.learning import group_features
from placer.testing import problems


class GroupFeaturesTest(absltest.TestCase):
  def test_a_chain(self):
    problem = problems.chain(4, op_group=[0, 0, 1, 2], tensor_bytes=99)
    found = group_features.of_problem(problem)
    np.testing.assert_array_equal(found.type_counts[:, 0], [2, 1, 1])
    np.testing.assert_array_equal(
      found.adjacency, [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    )
    # No costs, so no seconds; then flops, output bytes, persistent, ops.
    np.testing.assert_allclose(found.amounts[:, :2], 0)
    np.testing.assert_allclose(found.amounts[:, 2], [0.5, 0.25, 0.25])
    np.testing.assert_allclose(found.amounts[:, 5], [0.5, 0.25, 0.25])
    np.testing.assert_allclose(found.amounts[:, 6], [0, 0.5, 0.5])  # received
    np.testing.assert_allclose(found.amounts[:, 7], [0.5, 0.5, 0])  # sent
    np.testing.assert_allclose(
      found.output_bytes[:, :2], [[0.25, -1], [0.25, -1], [-1, -1]]
    )
    # Reads; is read by.
    np.testing.assert_allclose(found.neighbours[:, 0], [-1, 0, 0.5])
    np.testing.assert_allclose(found.neighbours[:, 6], [0.5, 1, -1])

  def test_is_finite_where_nothing_has_a_size(self):
    for problem in (
      problems.modules(1, flops=0, tensor_bytes=0),
      problems.chain(1),
    ):
      found = group_features.of_problem(problem)
      for name in ('type_counts', 'amounts', 'output_bytes', 'neighbours'):
        self.assertTrue(np.isfinite(getattr(found, name)).all(), name)

  def test_the_most_neighbours_are_those_with_the_most_bytes(self):
    problem = problems.fork_join(
      width=8, length=1, tensor_bytes=[1, 1, 2, 3, 4, 5, 6, 7, 8, 1]
    )
    found = group_features.of_problem(problem).neighbours[-1, :6]
    np.testing.assert_allclose(found, np.array([8, 7, 6, 5, 4, 3]) / 9)


if __name__ == '__main__':
  absltest.main()
