import os
import pathlib
from unittest import mock

from absl.testing import absltest

from placer.core import cache_folder


class CacheFolderTest(absltest.TestCase):
  def test_the_folder_follows_the_environment(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    with mock.patch.dict(
      os.environ,
      {'PLACER_CACHE_DIR': str(root / 'a'), 'XDG_CACHE_HOME': str(root / 'b')},
    ):
      self.assertEqual(cache_folder.find('links'), root / 'a' / 'links')
      del os.environ['PLACER_CACHE_DIR']
      found = cache_folder.find('links')
      self.assertEqual(found, root / 'b' / 'placer' / 'links')
      self.assertTrue(found.is_dir())

  def test_where_nothing_can_be_written_there_is_a_temporary_folder(self):
    file = self.create_tempfile().full_path
    with mock.patch.dict(os.environ, {'PLACER_CACHE_DIR': file}):
      first = cache_folder.find('links')
      self.assertTrue(first.is_dir())
      self.assertEqual(cache_folder.find('links'), first)


if __name__ == '__main__':
  absltest.main()
