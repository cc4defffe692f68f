"""Tests for base."""

from absl.testing import absltest

from benchmarks.models import base


class BaseTest(absltest.TestCase):
  def test_table_is_built_from_the_files(self):
    self.assertEqual(
      base.names(),
      (
        'inception_v3',
        'mixture_of_experts',
        'nasnet_large',
        'nasnet_mobile',
        'nmt_2',
        'nmt_4',
        'nmt_8',
        'resnet50',
        'rnnlm',
        'transformer',
      ),
    )

  def test_every_model_has_a_line_and_a_batch_size(self):
    for name in base.names():
      model = base.get(name)
      self.assertEqual(model.name, name)
      self.assertNotEmpty(model.summary)
      self.assertNotIn('\n', model.summary)
      self.assertGreaterEqual(model.batch_size, 1)

  def test_default_batch_size(self):
    meta_graph_def = base.build('mixture_of_experts', training=True)
    inputs = meta_graph_def.signature_def['train'].inputs
    self.assertEqual(inputs['features'].tensor_shape.dim[0].size, 256)

  def test_unknown_name_lists_the_choices(self):
    with self.assertRaisesRegex(base.UnknownModelError, "'resnet'.*resnet50"):
      base.build('resnet')

  def test_batch_size_below_one(self):
    with self.assertRaisesRegex(ValueError, 'batch_size is 0.*default.* 32'):
      base.build('rnnlm', batch_size=0)


if __name__ == '__main__':
  absltest.main()
