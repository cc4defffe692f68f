"""Tests for ptb."""

import dataclasses

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from benchmarks.families import base
from benchmarks.families import ptb
from benchmarks.models import model_contract

_CELL = (
  ptb.Node(-1, 'tanh'),
  ptb.Node(0, 'relu'),
  ptb.Node(0, 'identity'),
  ptb.Node(1, 'sigmoid'),
)
SMALL = ptb.Config(cell=_CELL, batch_size=2, steps=3, hidden=4, vocabulary=20)


def _sigmoid(x: np.ndarray) -> np.ndarray:
  return 1 / (1 + np.exp(-x))


_IN_NUMPY = {
  'tanh': np.tanh,
  'relu': lambda x: np.maximum(x, 0),
  'sigmoid': _sigmoid,
  'identity': lambda x: x,
}


class PtbTest(model_contract.TrainingContract, absltest.TestCase):
  batch_size = 2

  @classmethod
  def make(cls, training):
    del training  # There is nothing else.
    return ptb.build(SMALL)

  def test_two_steps_of_a_cell_match_numpy(self):
    feed = model_contract.random_feed(self.training)
    with tf.Graph().as_default() as graph:
      tf.import_graph_def(self.training.graph_def, name='')
    with tf.compat.v1.Session(graph=graph) as session:
      session.run('init_op')
      kernels = session.run(
        [f'cell/node_{k}/kernel/Read/ReadVariableOp:0' for k in range(4)]
      )
      table = session.run('embedding/table/Read/ReadVariableOp:0')
      got = session.run('step_1/cell/output/truediv:0', feed)
    state = np.zeros((2, 4))
    for tokens in feed['tokens:0'].T[:2]:
      outputs = []
      for node, kernel in zip(_CELL, kernels, strict=True):
        carried = outputs[node.parent] if outputs else state
        read = carried
        if not outputs:
          read = np.concatenate([table[tokens], state], axis=1)
        gate, value = np.split(read @ kernel, 2, axis=1)
        change = _IN_NUMPY[node.activation](value) - carried
        outputs.append(carried + _sigmoid(gate) * change)
      # Nobody reads nodes 2 and 3.
      state = (outputs[2] + outputs[3]) / 2
    np.testing.assert_allclose(got, state, rtol=1e-4, atol=1e-6)

  def test_the_softmax_of_a_step_holds_no_later_cell_back(self):
    before = model_contract.ancestors(
      self.training, 'step_2/cell/node_0/MatMul'
    )
    self.assertEmpty([name for name in before if '/softmax/' in name])

  def test_cells_of_the_family_are_trees_of_all_activations(self):
    cells = [member.config.cell for member in base.members('ptb')]
    for cell in cells:
      self.assertLen(cell, 12)
      for k, node in enumerate(cell):
        self.assertIn(node.parent, range(k) if k else (-1,))
    self.assertEqual(
      {node.activation for cell in cells for node in cell},
      set(ptb.ACTIVATIONS),
    )


class SampledTest(model_contract.TrainingContract, absltest.TestCase):
  """Member 0 of the family with few, narrow steps."""

  batch_size = 2

  @classmethod
  def make(cls, training):
    del training
    config = base.members('ptb')[0].config
    return ptb.build(
      dataclasses.replace(
        config, batch_size=2, steps=3, hidden=8, vocabulary=20
      )
    )


if __name__ == '__main__':
  absltest.main()
