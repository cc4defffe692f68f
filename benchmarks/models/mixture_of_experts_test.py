"""Tests for mixture_of_experts."""

from absl.testing import absltest

from benchmarks.models import mixture_of_experts
from benchmarks.models import model_contract

SMALL = mixture_of_experts.Config(
  towers=3, layers=2, features=8, hidden=16, classes=10
)


class MixtureOfExpertsTest(
  model_contract.InferenceContract,
  model_contract.TrainingContract,
  absltest.TestCase,
):
  batch_size = 5
  output_shapes = {'logits': (5, 10)}

  @classmethod
  def make(cls, training):
    return mixture_of_experts.build(SMALL, cls.batch_size, training)

  def test_towers_share_nothing_but_the_input(self):
    before = model_contract.ancestors(self.inference, 'tower_2/layer_1/Relu')
    self.assertIn('features', before)
    self.assertEmpty([n for n in before if n.startswith(('tower_1', 'gate'))])

  def test_combination_waits_for_all_towers(self):
    before = model_contract.ancestors(self.inference, 'combine/AddN')
    for k in range(SMALL.towers):
      self.assertIn(f'tower_{k}/weighted', before)


if __name__ == '__main__':
  absltest.main()
