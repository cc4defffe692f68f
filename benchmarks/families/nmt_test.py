"""Tests for nmt; those of the model itself are beside it."""

import dataclasses

from absl.testing import absltest

from benchmarks.families import base
from benchmarks.families import nmt
from benchmarks.models import model_contract


class SampledTest(model_contract.TrainingContract, absltest.TestCase):
  """Member 0 of the family with few, narrow steps."""

  batch_size = 2

  @classmethod
  def make(cls, training):
    del training
    config = base.members('nmt')[0].config
    small = dataclasses.replace(
      config.model, hidden=8, source_steps=3, target_steps=3, vocabulary=20
    )
    return nmt.build(nmt.Config(small, batch_size=2))

  def test_members_have_two_layers(self):
    layers = {member.config.model.layers for member in base.members('nmt')}
    self.assertEqual(layers, {2})


if __name__ == '__main__':
  absltest.main()
