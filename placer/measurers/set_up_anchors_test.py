import tensorflow as tf
from absl.testing import absltest

from placer.measurers import set_up_anchors


class FindTest(absltest.TestCase):
  def test_variables_and_tables(self):
    graph = tf.Graph()
    with graph.as_default():
      v = tf.compat.v1.get_variable('v', [2], use_resource=True)
      ref = tf.compat.v1.get_variable('ref', [2], use_resource=False)
      table = tf.raw_ops.HashTableV2(
        key_dtype=tf.string, value_dtype=tf.int64, name='table'
      )
      tf.raw_ops.InitializeTableV2(
        table_handle=table,
        keys=tf.constant(['a'], name='keys'),
        values=tf.constant([1], tf.int64, name='values'),
        name='fill',
      )
      again = tf.identity(v.handle, name='again')
      tf.raw_ops.AssignVariableOp(
        resource=again, value=tf.constant([1.0, 2.0], name='two'), name='set'
      )
      tf.group(v.initializer, ref.initializer, name='init')
    main = {'v', 'ref', 'table'}
    anchors = set_up_anchors.find(graph.as_graph_def(), main)

    def anchor(name):
      return anchors[name].name, anchors[name].on_host

    self.assertEqual(anchor('v/Assign'), ('v', False))
    self.assertEqual(anchor('ref/Assign'), ('ref', False))
    self.assertEqual(anchor('fill'), ('table', False))
    self.assertEqual(anchor('keys'), ('table', True))
    self.assertEqual(anchor('again'), ('v', False))
    self.assertEqual(anchor('set'), ('v', False))
    self.assertEqual(anchor('two'), ('v', True))
    self.assertTrue(anchors['init'].on_host)
    initial = 'v/Initializer/random_uniform/RandomUniform'
    self.assertEqual(anchor(initial), ('v', True))
    self.assertTrue(main.isdisjoint(anchors))

  def test_what_touches_nothing_has_no_anchor(self):
    graph = tf.Graph()
    with graph.as_default():
      tf.constant(1, name='alone')
    self.assertEmpty(set_up_anchors.find(graph.as_graph_def(), ()))


if __name__ == '__main__':
  absltest.main()
