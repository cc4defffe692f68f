"""Tests for nmt."""

from absl.testing import absltest

from benchmarks.models import model_contract
from benchmarks.models import nmt

SMALL = nmt.Config(
  layers=3, hidden=8, source_steps=4, target_steps=3, vocabulary=30
)


class NmtTest(
  model_contract.InferenceContract,
  model_contract.TrainingContract,
  absltest.TestCase,
):
  frozen = False
  batch_size = 2
  output_shapes = {'logits': (2, 3, 30)}

  @classmethod
  def make(cls, training):
    return nmt.build(SMALL, cls.batch_size, training)

  def test_layers_of_different_steps_can_overlap(self):
    for half, steps in (('encoder', 4), ('decoder', 3)):
      for t in range(steps - 1):
        for k in range(SMALL.layers - 1):
          before = model_contract.ancestors(
            self.inference, f'{half}/step_{t + 1}/layer_{k}/lstm/MatMul'
          )
          self.assertIn(f'{half}/step_{t}/layer_{k}/lstm/MatMul', before)
          self.assertNotIn(f'{half}/step_{t}/layer_{k + 1}/lstm/concat', before)

  def test_decoder_layer_starts_before_the_encoder_is_done(self):
    before = model_contract.ancestors(
      self.inference, 'decoder/step_0/layer_0/lstm/MatMul'
    )
    self.assertIn('encoder/step_3/layer_0/lstm/MatMul', before)
    self.assertNotIn('encoder/step_0/layer_1/lstm/MatMul', before)

  def test_decoder_layers_wait_for_no_attention(self):
    before = model_contract.ancestors(
      self.inference, 'decoder/step_2/layer_2/lstm/MatMul'
    )
    self.assertEmpty([n for n in before if 'attention' in n or 'memory' in n])

  def test_third_layer_is_residual(self):
    names = {node.name for node in self.inference.graph_def.node}
    self.assertIn('encoder/step_0/layer_2/residual', names)
    self.assertNotIn('encoder/step_0/layer_1/residual', names)


if __name__ == '__main__':
  absltest.main()
