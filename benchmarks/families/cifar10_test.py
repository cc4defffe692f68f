"""Tests for cifar10."""

import dataclasses

from absl.testing import absltest

from benchmarks.families import base
from benchmarks.families import cifar10
from benchmarks.models import model_contract

_CELL = (
  cifar10.Node((0, 1), ('separable_3x3', 'identity')),
  cifar10.Node((1, 2), ('max_3x3', 'average_3x3')),
  cifar10.Node((0, 0), ('separable_5x5', 'identity')),
)
SMALL = cifar10.Config(
  normal=_CELL,
  reduction=_CELL,
  batch_size=4,
  channels=4,
  stages=2,
  repeats=1,
  size=8,
  classes=10,
)


class Cifar10Test(model_contract.TrainingContract, absltest.TestCase):
  batch_size = 4

  @classmethod
  def make(cls, training):
    del training  # There is nothing else.
    return cifar10.build(SMALL)

  def _node(self, name):
    (node,) = [n for n in self.training.graph_def.node if n.name == name]
    return node

  def test_ops_read_what_the_design_says(self):
    # Node 1 reads input 1, which is the last cell, and node 0.
    before = model_contract.ancestors(self.training, 'cell_0/node_1/a_max_3x3')
    self.assertIn('cell_0/input_1/norm/FusedBatchNormV2', before)
    self.assertNotIn('cell_0/input_0/norm/FusedBatchNormV2', before)
    before = model_contract.ancestors(
      self.training, 'cell_0/node_1/b_average_3x3'
    )
    self.assertIn('cell_0/node_0/sum', before)

  def test_the_output_is_made_of_the_nodes_that_nobody_reads(self):
    inputs = self._node('cell_0/output').input
    self.assertEqual(
      list(inputs)[:2], ['cell_0/node_1/sum', 'cell_0/node_2/sum']
    )

  def test_reduction_halves_the_inputs_and_doubles_the_channels(self):
    strides = {
      name: self._node(f'cell_1/{name}').attr['strides'].list.i[1]
      for name in ('node_1/a_max_3x3', 'node_1/b_average_3x3')
    }
    self.assertEqual(
      strides, {'node_1/a_max_3x3': 2, 'node_1/b_average_3x3': 1}
    )

  def test_both_moving_averages_are_updated_in_the_step(self):
    before = model_contract.ancestors(self.training, 'train_op')
    updates = [name for name in before if name.startswith('update/')]
    norms = [
      n.name for n in self.training.graph_def.node if n.op == 'FusedBatchNormV2'
    ]
    self.assertNotEmpty(norms)
    assigns = [
      n.name
      for n in self.training.graph_def.node
      if n.name in updates and n.op == 'AssignVariableOp'
    ]
    self.assertLen(assigns, 2 * len(norms))

  def test_cells_of_the_family_are_of_all_ops(self):
    nodes = [
      node
      for member in base.members('cifar10')
      for cell in (member.config.normal, member.config.reduction)
      for node in cell
    ]
    self.assertLen(nodes, 32 * 2 * 5)
    self.assertEqual(
      {op for node in nodes for op in node.ops}, set(cifar10.OPS)
    )


class SampledTest(model_contract.TrainingContract, absltest.TestCase):
  """Member 0 of the family, with few and small images and channels."""

  batch_size = 4

  @classmethod
  def make(cls, training):
    del training
    config = base.members('cifar10')[0].config
    return cifar10.build(
      dataclasses.replace(
        config, batch_size=4, channels=4, repeats=1, stages=2, size=8
      )
    )


if __name__ == '__main__':
  absltest.main()
