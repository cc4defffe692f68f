import dataclasses
import os
import pathlib
from unittest import mock

import numpy as np
from absl.testing import absltest

from placer.core import step_profile
from placer.measurers import profile_cache

_PROFILE = step_profile.StepProfile(
  op_seconds=np.array([0.5, 1.0]),
  op_runs=np.array([3, 1]),
  temporary_bytes=np.array([64, 0]),
  tensor_bytes=np.array([8, -1]),
  shares_tensor=np.array([-1, -1], np.int32),
  persistent_bytes=96,
  step_seconds=0.25,
)


class ProfileCacheTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path) / 'cache'
    self.enterContext(
      mock.patch.dict(os.environ, {'PLACER_CACHE_DIR': str(self.folder)})
    )

  def test_gives_back_what_was_saved(self):
    self.assertIsNone(profile_cache.load('key'))
    profile_cache.save('key', _PROFILE)
    found = profile_cache.load('key')
    for field in dataclasses.fields(_PROFILE):
      np.testing.assert_array_equal(
        getattr(found, field.name), getattr(_PROFILE, field.name)
      )
    self.assertIsNone(profile_cache.load('another key'))

  def test_the_last_one_saved_counts(self):
    profile_cache.save('key', _PROFILE)
    profile_cache.save('key', dataclasses.replace(_PROFILE, step_seconds=2.0))
    self.assertEqual(profile_cache.load('key').step_seconds, 2.0)
    self.assertLen(list((self.folder / 'profiles').iterdir()), 1)

  def test_a_broken_file_counts_as_none(self):
    profile_cache.save('key', _PROFILE)
    (path,) = (self.folder / 'profiles').iterdir()
    whole = path.read_bytes()
    for content in (b'', b'no archive', whole[: len(whole) // 2]):
      path.write_bytes(content)
      self.assertIsNone(profile_cache.load('key'))
    arrays = _PROFILE.arrays()
    del arrays['op_runs']
    for incomplete in (arrays, _PROFILE.arrays() | {'op_runs': np.zeros(5)}):
      np.savez_compressed(path, **incomplete)
      self.assertIsNone(profile_cache.load('key'))

  def test_a_folder_that_cannot_be_written_is_no_fault(self):
    self.folder.write_text('a file is in the way')
    profile_cache.save('key', _PROFILE)
    self.assertEqual(self.folder.read_text(), 'a file is in the way')


if __name__ == '__main__':
  absltest.main()
