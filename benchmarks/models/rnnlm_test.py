"""Tests for rnnlm."""

from absl.testing import absltest

from benchmarks.models import model_contract
from benchmarks.models import rnnlm

SMALL = rnnlm.Config(layers=3, hidden=8, steps=4, vocabulary=30)


class RnnlmTest(
  model_contract.InferenceContract,
  model_contract.TrainingContract,
  absltest.TestCase,
):
  frozen = False
  batch_size = 2
  output_shapes = {'logits': (2, 4, 30)}

  @classmethod
  def make(cls, training):
    return rnnlm.build(SMALL, cls.batch_size, training)

  def test_layers_of_different_steps_can_overlap(self):
    for t in range(SMALL.steps - 1):
      for k in range(SMALL.layers - 1):
        before = model_contract.ancestors(
          self.inference, f'step_{t + 1}/layer_{k}/lstm/MatMul'
        )
        self.assertIn(f'step_{t}/layer_{k}/lstm/MatMul', before)
        self.assertNotIn(f'step_{t}/layer_{k + 1}/lstm/concat', before)

  def test_backward_steps_of_different_layers_can_overlap(self):
    for t in range(1, SMALL.steps):
      for k in range(1, SMALL.layers):
        before = model_contract.ancestors(
          self.training,
          f'gradients/step_{t - 1}/layer_{k}/lstm/MatMul_grad/MatMul',
        )
        grads = f'gradients/step_{t}/layer_{{}}/lstm/MatMul_grad/MatMul'
        self.assertIn(grads.format(k), before)
        self.assertNotIn(grads.format(k - 1), before)

  def test_no_step_waits_for_a_softmax(self):
    last = SMALL.steps - 1
    before = model_contract.ancestors(
      self.inference, f'step_{last}/softmax/MatMul'
    )
    self.assertEmpty([n for n in before if n.startswith('step_0/softmax')])

  def test_a_weight_is_one_node(self):
    uses = [
      node.name
      for node in self.inference.graph_def.node
      if 'layer_1/lstm/kernel/Read/ReadVariableOp' in node.input
    ]
    self.assertLen(uses, SMALL.steps)


if __name__ == '__main__':
  absltest.main()
