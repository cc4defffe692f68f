"""Tests for meta_graph, on a table of three numbers."""

import functools

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.models import meta_graph
from benchmarks.models import weights as weights_lib

SGD = functools.partial(
  tf.compat.v1.train.GradientDescentOptimizer, learning_rate=0.1
)


def _forward(weights):
  """Adds up rows 0, 2, 2 of [1, 1, 1]; counts the steps in 'steps'."""
  table = weights('table', (3,), weights_lib.ONES)
  steps = weights('steps', (), weights_lib.ZEROS, trainable=False)
  rows = tf.compat.v1.placeholder(tf.int32, (3,), 'rows')
  total = tf.reduce_sum(tf.gather(table, rows), name='total')
  return meta_graph.Forward(
    {'rows': rows}, {'total': total}, total, {'steps': steps + 1}
  )


class MetaGraphTest(absltest.TestCase):
  def test_training(self):
    meta_graph_def = meta_graph.build(_forward, training=True, optimizer_fn=SGD)
    self.assertEqual(list(meta_graph_def.meta_info_def.tags), ['train'])
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
      with session.graph.as_default():
        tf.compat.v1.train.import_meta_graph(meta_graph_def)
        variables = {v.op.name: v for v in tf.compat.v1.global_variables()}
        trainable = tf.compat.v1.trainable_variables()
      self.assertEqual([v.op.name for v in trainable], ['table'])
      session.run('init_op')
      feed = {'rows:0': [0, 2, 2]}
      loss = meta_graph_def.signature_def['train'].outputs['loss'].name
      self.assertEqual(session.run(loss, feed), 3.0)
      session.run('train_op', feed)
      values = session.run(variables)
    self.assertEqual(values['steps'], 1.0)
    # Each use of a row moves it by the learning rate: row 2 twice.
    np.testing.assert_allclose(values['table'], [0.9, 1.0, 0.8], rtol=1e-6)

  def test_inference(self):
    meta_graph_def = meta_graph.build(
      _forward, training=False, optimizer_fn=SGD
    )
    self.assertEqual(list(meta_graph_def.meta_info_def.tags), ['serve'])
    self.assertEmpty(meta_graph_def.collection_def)
    signature = meta_graph_def.signature_def['serving_default']
    self.assertEqual(signature.inputs['rows'].name, 'rows:0')
    self.assertEqual(signature.outputs['total'].name, 'total:0')
    self.assertEqual(signature.outputs['total'].dtype, tf.float32)

  def test_gradients_are_not_tied_to_forward_ops(self):
    meta_graph_def = meta_graph.build(_forward, training=True, optimizer_fn=SGD)
    for node in meta_graph_def.graph_def.node:
      if node.name.startswith('gradients/'):
        self.assertNotIn('_class', node.attr)

  def test_builds_in_the_graph_it_is_given(self):
    graph = tf.Graph()
    meta_graph.build(_forward, training=False, optimizer_fn=SGD, graph=graph)
    self.assertEqual(graph.get_operation_by_name('total').type, 'Sum')


if __name__ == '__main__':
  absltest.main()
