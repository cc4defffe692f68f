import os

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.core import program
from placer.measurers import feeds

_FEEDS = (
  program.Feed('x:0', 'float32', (2, 3), 'images'),
  program.Feed('ids:0', 'int64', (4,)),
)


class MakeTest(parameterized.TestCase):
  @parameterized.parameters(
    'float16',
    'bfloat16',
    'float64',
    'int8',
    'uint8',
    'int32',
    'int64',
    'bool',
    'complex64',
  )
  def test_dtype_and_shape(self, dtype):
    for shape in ((), (3,), (2, 5)):
      (value,) = feeds.make([program.Feed('x:0', dtype, shape)], seed=1)
      self.assertEqual(value.shape, shape)
      self.assertEqual(value.dtype, feeds.numpy_dtype(dtype))

  def test_strings(self):
    for shape in ((), (3,)):
      (value,) = feeds.make([program.Feed('x:0', 'string', shape)], seed=1)
      self.assertEqual(value.shape, shape)
      self.assertIsInstance(value.reshape(-1)[0] if shape else value[()], bytes)

  def test_integers_are_small(self):
    (value,) = feeds.make([program.Feed('x:0', 'int32', (1000,))], seed=0)
    self.assertEqual((value.min(), value.max()), (0, 9))

  def test_the_seed_decides(self):
    one, again, other = (feeds.make(_FEEDS, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[0], again[0])
    np.testing.assert_array_equal(one[1], again[1])
    self.assertFalse(np.array_equal(one[0], other[0]))


class LoadTest(parameterized.TestCase):
  def _save(self, **arrays) -> str:
    path = os.path.join(self.create_tempdir().full_path, 'feeds.npz')
    np.savez(path, **arrays)
    return path

  def test_by_name_or_tensor(self):
    images, ids = np.ones((2, 3), np.float32), np.arange(4)
    for keys in (('images', 'ids:0'), ('x:0', 'ids'), ('x', 'ids')):
      path = self._save(**dict(zip(keys, (images, ids), strict=True)))
      loaded = feeds.load(_FEEDS, path)
      np.testing.assert_array_equal(loaded[0], images)
      np.testing.assert_array_equal(loaded[1], ids)

  def test_strings_become_objects(self):
    path = self._save(words=np.array(['a', 'bc']))
    (value,) = feeds.load([program.Feed('words:0', 'string', (2,))], path)
    self.assertEqual(value.dtype, object)

  @parameterized.named_parameters(
    ('missing', {'images': np.ones((2, 3))}, "nothing for feed 'ids:0'"),
    (
      'unknown',
      {'images': np.ones((2, 3)), 'ids': np.ones(4, int), 'y': np.ones(1)},
      "'y', which is not a feed. The feeds are 'images'",
    ),
    (
      'shape',
      {'images': np.ones((2, 4)), 'ids': np.ones(4, int)},
      r'shape \(2, 4\); the feed needs \(2, 3\)',
    ),
    (
      'type',
      {'images': np.ones((2, 3)), 'ids': np.ones(4)},
      'type float64; the feed needs int64',
    ),
  )
  def test_what_does_not_fit(self, arrays, message):
    with self.assertRaisesRegex(errors.UsageError, message):
      feeds.load(_FEEDS, self._save(**arrays))

  def test_not_a_file(self):
    with self.assertRaisesRegex(errors.UsageError, "keys are 'images'"):
      feeds.load(_FEEDS, '/nowhere.npz')
    path = self.create_tempfile(content='text').full_path
    with self.assertRaisesRegex(errors.UsageError, 'numpy.savez'):
      feeds.load(_FEEDS, path)


if __name__ == '__main__':
  absltest.main()
