from absl.testing import absltest
from tensorflow.core.framework import graph_pb2

from placer.measurers import device_gaps


class FillTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.graph_def = graph_pb2.GraphDef()
    for name, inputs in (
      ('a', []),
      ('b', ['a']),
      ('c', ['b:1', '^d']),
      ('d', []),
      ('e', ['c']),
      ('alone', []),
    ):
      self.graph_def.node.add(name=name, input=inputs)

  def test_consumers_before_inputs_before_the_default(self):
    placed = {'b': 'X', 'c': 'Y'}
    device_gaps.fill(self.graph_def, placed, 'Z')
    self.assertEqual(
      placed,
      {'a': 'X', 'b': 'X', 'c': 'Y', 'd': 'Y', 'e': 'Y', 'alone': 'Z'},
    )

  def test_over_several_edges(self):
    placed = {'e': 'X'}
    device_gaps.fill(self.graph_def, placed, 'Z')
    self.assertEqual(placed['a'], 'X')
    placed = {'a': 'X'}
    device_gaps.fill(self.graph_def, placed, 'Z')
    # 'd' has no inputs; it goes with its consumer once that has a device.
    self.assertEqual([placed[name] for name in 'bcde'], ['X'] * 4)

  def test_leaves_what_it_is_told(self):
    placed = {'a': 'X'}
    device_gaps.fill(self.graph_def, placed, 'Z', leave={'e', 'alone'})
    self.assertEqual(sorted(placed), ['a', 'b', 'c', 'd'])


if __name__ == '__main__':
  absltest.main()
