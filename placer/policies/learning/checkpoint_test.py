"""Checkpoints: round trip, the newest, what a killed process leaves."""

import pathlib

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.core import errors
from placer.policies.learning import checkpoint

_CONFIG = {'policy': 'x', 'config': {'hidden': 4, 'rate': [1, 2]}}


class _Module(tf.Module):
  def __init__(self, value: float) -> None:
    super().__init__()
    self.value = tf.Variable(value)


class CheckpointTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path) / 'checkpoints'

  def _save(self, step: int, value: float, config=None) -> None:
    checkpoint.save(
      self.folder,
      step,
      {'module': _Module(value)},
      {'best/0': np.arange(step)},
      config or _CONFIG,
    )

  def _restore(self, config=None):
    module = _Module(0.0)
    found = checkpoint.restore(
      self.folder, {'module': module}, config or _CONFIG
    )
    return found, float(module.value)

  def test_the_newest_comes_back(self):
    self.assertIsNone(self._restore()[0])
    for step in (1, 20, 3):
      self._save(step, step / 2)
    found, value = self._restore()
    self.assertEqual((found.step, value), (20, 10.0))
    np.testing.assert_array_equal(found.arrays['best/0'], np.arange(20))
    self.assertLen(list(self.folder.glob('step_*')), 2)

  def test_what_was_not_finished_does_not_count(self):
    self._save(1, 1.0)
    partial = self.folder / 'partial'
    partial.mkdir()
    (partial / 'weights.index').write_bytes(b'half')
    self.assertEqual(self._restore()[0].step, 1)
    self._save(2, 2.0)
    self.assertEqual(self._restore()[1], 2.0)
    self.assertFalse(partial.exists())

  def test_another_configuration_is_refused_by_its_fields(self):
    self._save(1, 1.0)
    other = {'policy': 'x', 'config': {'hidden': 8, 'rate': [1, 2]}, 'new': 1}
    with self.assertRaisesRegex(
      errors.UsageError, r'config\.hidden \(there 4, here 8\); new \(there None'
    ):
      self._restore(other)
    with self.assertRaises(errors.UsageError):
      self._save(2, 1.0, other)

  def test_tuples_are_as_good_as_lists(self):
    self._save(1, 1.0)
    same = {'policy': 'x', 'config': {'hidden': 4, 'rate': (1, 2)}}
    self.assertEqual(self._restore(same)[0].step, 1)

  def test_a_folder_without_a_checkpoint_is_told(self):
    with self.assertRaisesRegex(errors.UsageError, 'placer train'):
      checkpoint.read_config(self.folder)


if __name__ == '__main__':
  absltest.main()
