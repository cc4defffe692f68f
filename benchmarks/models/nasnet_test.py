"""Tests for nasnet: Mobile's forward pass; Large is too slow to build here."""

from absl.testing import absltest

from benchmarks.models import base
from benchmarks.models import model_contract
from benchmarks.models import nasnet


class NasnetMobileTest(model_contract.InferenceContract, absltest.TestCase):
  batch_size = 1
  output_shapes = {'probabilities': (1, 1000)}

  @classmethod
  def make(cls, training):
    return base.build('nasnet_mobile', training=training, batch_size=1)

  def test_both_sizes_are_in_the_table(self):
    self.assertContainsSubset([m.name for m in nasnet.MODELS], base.names())
    self.assertIn('nasnet_large', base.names())


if __name__ == '__main__':
  absltest.main()
