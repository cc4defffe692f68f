"""Tests for resnet50, and of what all Keras models share."""

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.models import base
from benchmarks.models import model_contract


class Resnet50Test(
  model_contract.InferenceContract,
  model_contract.TrainingContract,
  absltest.TestCase,
):
  batch_size = 2
  output_shapes = {'probabilities': (2, 1000)}

  @classmethod
  def make(cls, training):
    return base.build('resnet50', training=training, batch_size=2)

  def test_ops_and_weights_have_the_layers_names(self):
    names = {node.name for node in self.inference.graph_def.node}
    self.assertIn('conv4_block2_1_conv/kernel', names)
    self.assertIn('conv4_block2_1_conv/convolution', names)
    training = {node.name for node in self.training.graph_def.node}
    self.assertIn(
      'gradients/conv4_block2_1_conv/convolution_grad/Conv2DBackpropFilter',
      training,
    )

  def test_step_updates_the_moving_averages(self):
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
      with session.graph.as_default():
        tf.compat.v1.train.import_meta_graph(self.training)
        (variable,) = [
          v
          for v in tf.compat.v1.global_variables()
          if v.op.name == 'conv1_bn/moving_mean'
        ]
      session.run('init_op')
      before = session.run(variable)
      session.run('train_op', model_contract.random_feed(self.training))
      after = session.run(variable)
    self.assertFalse(variable.trainable)
    np.testing.assert_array_equal(before, 0)
    self.assertGreater(np.abs(after).max(), 0)


if __name__ == '__main__':
  absltest.main()
