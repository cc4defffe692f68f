from absl.testing import absltest

from placer.core import errors
from placer.importers import cost_graph


class CostGraphTest(absltest.TestCase):
  def test_order_is_the_files_own_where_that_is_topological(self):
    self.assertEqual(
      cost_graph.topological_order(4, [(0, 2), (1, 3)], 'f'), [0, 1, 2, 3]
    )
    self.assertEqual(
      cost_graph.topological_order(4, [(3, 0), (0, 1)], 'f'), [2, 3, 0, 1]
    )
    self.assertEmpty(cost_graph.topological_order(0, [], 'f'))

  def test_a_cycle_is_told(self):
    with self.assertRaisesRegex(errors.GraphImportError, "'f' has a cycle"):
      cost_graph.topological_order(3, [(0, 1), (1, 2), (2, 1)], 'f')

  def test_names_are_made_distinct(self):
    graph = cost_graph.make_graph(
      ['a', 'a', 'a_1', 'a'], ['Node'] * 4, [(0, 8)], [(0, 1, 0)], [0] * 4
    )
    self.assertLen(set(graph.names), 4)
    self.assertEqual(graph.names[0], 'a')
    self.assertEqual(graph.names[2], 'a_1')

  def test_empty_graph(self):
    self.assertEmpty(cost_graph.make_graph([], [], [], [], []))


if __name__ == '__main__':
  absltest.main()
