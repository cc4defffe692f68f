import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.core import program
from placer.measurers import measured_graph
from placer.measurers import toy_programs

_A = '/job:worker/replica:0/task:0/device:CPU:0'
_B = '/job:worker/replica:0/task:1/device:GPU:0'
_B_HOST = '/job:worker/replica:0/task:1/device:CPU:0'


def _by_name(graph_def):
  return {node.name: node for node in graph_def.node}


def _split(toy):
  """Group 1 of a toy on B, the rest on A."""
  return {
    node.name: _B if node.name.startswith('b/') else _A
    for node in toy.graph_def.node
  }


class MeasuredGraphTest(absltest.TestCase):
  def test_a_placeholder_becomes_a_variable(self):
    toy = toy_programs.matmuls()
    measured = measured_graph.build(toy.program, seed=0)
    nodes = _by_name(measured.graph_def)
    self.assertEqual(nodes['x'].op, 'ReadVariableOp')
    self.assertEqual(list(nodes['x'].input), ['x/placer_feed'])
    self.assertEqual(measured.fetch_ops, ('b/out',))
    (feed,) = measured.feeds
    graph = tf.Graph()
    with graph.as_default():
      tf.graph_util.import_graph_def(measured.graph_def, name='')
    value = np.full((256, 256), 1e-3, np.float32)
    with tf.compat.v1.Session(graph=graph) as session:
      session.run(feed.assign, {f'{feed.value}:0': value})
      np.testing.assert_array_equal(session.run('x:0'), value)
      session.run(measured.fetch_ops[0])

  def test_a_step_knows_no_more_of_a_shape_than_the_user_said(self):
    nodes = _by_name(
      measured_graph.build(toy_programs.training().program, seed=0).graph_def
    )
    shape = tf.TensorShape(nodes['x/placer_feed'].attr['shape'].shape)
    self.assertEqual(shape.as_list(), [None, 64])

  def test_other_feeds_cut_the_graph(self):
    def make():
      x = tf.compat.v1.placeholder(tf.float32, [4], name='x')
      parts = tf.split(x, 2, name='parts')
      tf.add(parts[1], 1.0, name='out')

    toy = toy_programs.build(
      make, fetches=['out'], feeds=[program.Feed('parts:1', 'float32', (2,))]
    )
    nodes = _by_name(measured_graph.build(toy.program, seed=0).graph_def)
    self.assertEqual(nodes['out'].input[0], 'parts/placer_read_1')
    self.assertNotIn('parts', nodes)
    self.assertNotIn('x', nodes)
    placed = measured_graph.place(
      measured_graph.build(toy.program, seed=0), _split(toy) | {'parts': _B}, _A
    )
    self.assertEqual(_by_name(placed)['parts/placer_read_1'].device, _B)

  def test_set_up_goes_with_its_variable(self):
    toy = toy_programs.training()
    measured = measured_graph.build(toy.program, seed=0)
    nodes = _by_name(measured_graph.place(measured, _split(toy), _A))
    self.assertEqual(nodes['b/weight'].device, _B)
    self.assertEqual(nodes['b/weight/Assign'].device, _B)
    for name, node in nodes.items():
      if name.startswith('b/weight/Initializer/'):
        self.assertEqual(node.device, _B_HOST)
      if name.startswith('a/weight/'):
        self.assertEqual(node.device, _A)
      self.assertNotEmpty(node.device)

  def test_equal_names_are_one_node(self):
    measured = measured_graph.build(toy_programs.training().program, seed=0)
    names = [node.name for node in measured.graph_def.node]
    self.assertLen(set(names), len(names))
    self.assertIn('init', names)

  def test_random_ops_get_seeds_from_their_names(self):
    toy = toy_programs.training()
    seeds = {}
    for seed in (0, 0, 1):
      nodes = measured_graph.build(toy.program, seed=seed).graph_def.node
      found = tuple(
        (n.attr['seed'].i, n.attr['seed2'].i) for n in nodes if 'seed' in n.attr
      )
      self.assertLen(set(found), len(found))
      seeds.setdefault(seed, set()).add(found)
    self.assertLen(seeds[0], 1)
    self.assertTrue(seeds[0].isdisjoint(seeds[1]))

  def test_gaps_are_filled_from_consumers(self):
    toy = toy_programs.matmuls()
    measured = measured_graph.build(toy.program, seed=0)
    nodes = _by_name(measured_graph.place(measured, {'b/out': _B}, _A))
    self.assertEqual(nodes.pop('x/placer_value').device, _B_HOST)
    self.assertEqual({node.device for node in nodes.values()}, {_B})
    nodes = _by_name(measured_graph.place(measured, {}, _A))
    self.assertEqual({node.device for node in nodes.values()}, {_A})

  def test_building_and_placing_edit_nothing(self):
    toy = toy_programs.training()
    measured = measured_graph.build(toy.program, seed=0)
    before = measured.graph_def.SerializeToString(deterministic=True)
    measured_graph.place(measured, _split(toy), _A)
    measured_graph.with_variable_reads(measured)
    after = measured.graph_def.SerializeToString(deterministic=True)
    self.assertEqual(before, after)

  def test_names_that_are_not_there(self):
    toy = toy_programs.matmuls()
    for change in (
      {'feeds': (program.Feed('y:0', 'float32', ()),)},
      {'fetches': ('y',)},
    ):
      wrong = program.Program(
        **{'graph_def': toy.program.graph_def, 'fetches': ('b/out',)} | change
      )
      with self.assertRaisesRegex(ValueError, "'y"):
        measured_graph.build(wrong, seed=0)


if __name__ == '__main__':
  absltest.main()
