import os
import pathlib
from unittest import mock

from absl.testing import absltest

from placer.core import device
from placer.devices import link_cache
from placer.devices import target


class LinkCacheTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path) / 'cache'
    self.enterContext(
      mock.patch.dict(os.environ, {'PLACER_CACHE_DIR': str(self.folder)})
    )
    self.topology = target.resolve('logical:2')
    self.links = (
      device.Link(0, 1, 1e-4, 1e9, ((4, 1e-4), (8, 2e-4)), 2e-5, 3e-10),
    )

  def test_gives_back_what_was_saved(self):
    self.assertIsNone(link_cache.load(self.topology))
    link_cache.save(self.topology, self.links)
    self.assertEqual(link_cache.load(self.topology), self.links)
    self.assertIsNone(link_cache.load(target.resolve('logical:3')))
    self.assertLen(os.listdir(self.folder), 1)

  def test_a_broken_file_counts_as_none(self):
    link_cache.save(self.topology, self.links)
    (path,) = (self.folder / 'links').iterdir()
    before_loads = '{"schema": 1, "links": [[0, 1, 1e-4, 1e9, []]]}'
    for text in (
      '',
      '[]',
      '{"schema": 0}',
      '{"schema": 2, "links": [[1]]}',
      before_loads,
    ):
      path.write_text(text)
      self.assertIsNone(link_cache.load(self.topology))

  def test_a_folder_that_cannot_be_written_is_no_fault(self):
    self.folder.write_text('a file is in the way')
    link_cache.save(self.topology, self.links)
    self.assertEqual(self.folder.read_text(), 'a file is in the way')


if __name__ == '__main__':
  absltest.main()
