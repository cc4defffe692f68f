"""Event files are read back with TensorFlow's own reader."""

import pathlib

import tensorflow as tf
from absl.testing import absltest

from placer.policies.learning import scalars


class ScalarsTest(absltest.TestCase):
  def test_what_is_written_can_be_read(self):
    folder = pathlib.Path(self.create_tempdir().full_path) / 'events'
    with scalars.ScalarWriter(folder) as writer:
      writer.write(3, {'reward': -0.5, 'best': 2.0})
      # Before it is closed, as a killed run never closes it.
      events = self._events(folder)
    self.assertEqual(events[0].file_version, 'brain.Event:2')
    self.assertEqual(events[1].step, 3)
    self.assertEqual(
      {value.tag: value.simple_value for value in events[1].summary.value},
      {'reward': -0.5, 'best': 2.0},
    )

  def test_each_opening_has_a_file_of_its_own(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    for step in range(2):
      with scalars.ScalarWriter(folder) as writer:
        writer.write(step, {'x': 1.0})
    self.assertLen(list(folder.iterdir()), 2)

  def _events(self, folder: pathlib.Path):
    (file,) = folder.iterdir()
    self.assertIn('tfevents', file.name)
    return list(tf.compat.v1.train.summary_iterator(str(file)))


if __name__ == '__main__':
  absltest.main()
