"""Tests for inception_v3; the training step is tested on resnet50."""

from absl.testing import absltest

from benchmarks.models import base
from benchmarks.models import model_contract


class InceptionV3Test(model_contract.InferenceContract, absltest.TestCase):
  batch_size = 1
  output_shapes = {'probabilities': (1, 1000)}

  @classmethod
  def make(cls, training):
    return base.build('inception_v3', training=training, batch_size=1)

  def test_has_the_layers_of_the_paper(self):
    ops = [node.op for node in self.inference.graph_def.node]
    self.assertEqual(ops.count('Conv2D'), 94)
    self.assertEqual(ops.count('MatMul'), 1)

  def test_branches_can_overlap(self):
    (concat,) = [
      node
      for node in self.inference.graph_def.node
      if node.name == 'mixed3/concat'
    ]
    branches = concat.input[:-1]
    self.assertLen(branches, 3)
    for branch in branches:
      before = model_contract.ancestors(self.inference, branch)
      self.assertEmpty(before.intersection(branches))


if __name__ == '__main__':
  absltest.main()
