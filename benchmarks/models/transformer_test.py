"""Tests for transformer."""

from absl.testing import absltest

from benchmarks.models import model_contract
from benchmarks.models import transformer

SMALL = transformer.Config(
  layers=2, hidden=16, heads=2, inner=32, length=5, vocabulary=30
)


class TransformerTest(
  model_contract.InferenceContract,
  model_contract.TrainingContract,
  absltest.TestCase,
):
  batch_size = 3
  output_shapes = {'logits': (3, 5, 30)}

  @classmethod
  def make(cls, training):
    return transformer.build(SMALL, cls.batch_size, training)

  def test_query_key_and_value_can_overlap(self):
    path = 'layer_1/attention'
    before = model_contract.ancestors(self.inference, f'{path}/query/MatMul')
    self.assertNotIn(f'{path}/key/MatMul', before)
    self.assertNotIn(f'{path}/value/MatMul', before)

  def test_optimizer_has_two_moments_a_weight(self):
    variables = [
      node.name
      for node in self.training.graph_def.node
      if node.op == 'VarHandleOp'
    ]
    self.assertIn('layer_0/feed_forward/inner/kernel/Adam', variables)
    self.assertIn('layer_0/feed_forward/inner/kernel/Adam_1', variables)
    self.assertIn('beta1_power', variables)


if __name__ == '__main__':
  absltest.main()
