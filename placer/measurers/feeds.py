"""Feed values: what the inputs of a measured step hold.

Made from a seed, or read from a `--feeds_file`: an .npz with one array a
feed, its key the feed's name ('images') or tensor ('x:0').

Made values: floats are standard normal, integers in 0..9 (small enough for
most lookups), booleans fair, strings short words. Value i depends on the seed
and on i alone.
"""

import hashlib
import os
import zipfile
from collections.abc import Mapping, Sequence

import numpy as np

from placer.core import errors
from placer.core import program as program_lib

_INTEGER_LIMIT = 10


def numpy_dtype(name: str) -> np.dtype:
  """The numpy type of a TensorFlow type name; object for 'string'."""
  if name == 'string':
    return np.dtype(object)
  try:
    return np.dtype(name)
  except TypeError:
    # bfloat16, float8, int4 and quantised types.
    import tensorflow as tf

    return np.dtype(tf.as_dtype(name).as_numpy_dtype)


def choose(
  feeds: Sequence[program_lib.Feed],
  *,
  path: str,
  arrays: Mapping[str, np.ndarray] | None,
  seed: int,
) -> tuple[np.ndarray, ...]:
  """The values from a file, else from arrays, else made from a seed.

  Args:
    feeds: types and shapes.
    path: an .npz file, or ''.
    arrays: by name or tensor of the feeds, or None.
    seed: for made values.

  Returns:
    One array a feed, with its dtype and shape.

  Raises:
    UsageError: the file or the arrays do not fit the feeds.
  """
  for feed in feeds:
    if feed.dtype in ('resource', 'variant'):
      raise errors.UsageError(
        f'Feed {feed.name or feed.tensor!r} is a {feed.dtype}, whose value is '
        'not in the graph, so a step cannot be run. Fetch something that does '
        'not need it, with --fetches.'
      )
  if path:
    return load(feeds, path)
  if arrays is not None:
    return check(feeds, arrays, 'feed_values')
  return make(feeds, seed)


def digest(arrays: Sequence[np.ndarray]) -> str:
  """A hash of the feeds' values: what a step takes may depend on them.

  Args:
    arrays: one a feed.

  Returns:
    16 hexadecimal digits.
  """
  found = hashlib.sha256()
  for array in arrays:
    found.update(f'{array.dtype}{array.shape}'.encode())
    if array.dtype.hasobject:
      found.update(repr(array.tolist()).encode())
    else:
      found.update(np.ascontiguousarray(array).tobytes())
  return found.hexdigest()[:16]


def make(
  feeds: Sequence[program_lib.Feed], seed: int
) -> tuple[np.ndarray, ...]:
  """Makes a value for each feed.

  Args:
    feeds: types and shapes.
    seed: equal seeds, equal values.

  Returns:
    One array a feed, with its dtype and shape.
  """
  return tuple(
    _make(feed, np.random.default_rng([seed, i]))
    for i, feed in enumerate(feeds)
  )


def load(
  feeds: Sequence[program_lib.Feed], path: str | os.PathLike[str]
) -> tuple[np.ndarray, ...]:
  """Reads the value of each feed from an .npz file.

  Args:
    feeds: what is needed; each must be in the file.
    path: the file.

  Returns:
    One array a feed, with its dtype and shape.

  Raises:
    UsageError: no such file, a key is missing or unknown, or an array has
      another shape or type.
  """
  try:
    with np.load(path, allow_pickle=False) as file:
      arrays = {key: file[key] for key in file.files}
  except (
    OSError,
    ValueError,
    AttributeError,
    TypeError,
    EOFError,
    zipfile.BadZipFile,
  ) as error:
    raise errors.UsageError(
      f'--feeds_file={path} cannot be read as .npz: {error}. Write it with '
      f'numpy.savez; its keys are {_keys(feeds)}.'
    ) from error
  return check(feeds, arrays, f'--feeds_file={path}')


def check(
  feeds: Sequence[program_lib.Feed],
  arrays: Mapping[str, np.ndarray],
  what: str,
) -> tuple[np.ndarray, ...]:
  """Finds and checks the array of each feed.

  Args:
    feeds: what is needed.
    arrays: by name or tensor of the feeds.
    what: where they come from, for messages.

  Returns:
    One array a feed, with its dtype and shape.

  Raises:
    UsageError: a key is missing or unknown, or an array does not fit.
  """
  known = {key for feed in feeds for key in _names(feed)}
  unknown = sorted(set(arrays) - known)
  if unknown:
    raise errors.UsageError(
      f'{what} has {unknown[0]!r}, which is not a feed. The feeds are '
      f'{_keys(feeds)}.'
    )
  values = []
  for feed in feeds:
    key = next((name for name in _names(feed) if name in arrays), None)
    if key is None:
      raise errors.UsageError(
        f'{what} has nothing for feed {_names(feed)[0]!r}. The feeds are '
        f'{_keys(feeds)}.'
      )
    values.append(_fit(feed, np.asarray(arrays[key]), f'{what}: {key!r}'))
  return tuple(values)


def _fit(feed: program_lib.Feed, array: np.ndarray, what: str) -> np.ndarray:
  if array.shape != tuple(feed.shape):
    raise errors.UsageError(
      f'{what} has shape {array.shape}; the feed needs {tuple(feed.shape)}. '
      f'--batch_size or --input_shapes={feed.name}=... say another shape.'
    )
  wanted = numpy_dtype(feed.dtype)
  if wanted.hasobject:
    fits = array.dtype.kind in 'SUO'
  else:
    fits = array.dtype == wanted or np.can_cast(
      array.dtype, wanted, 'same_kind'
    )
  if not fits:
    raise errors.UsageError(
      f'{what} has type {array.dtype}; the feed needs {feed.dtype}.'
    )
  return array.astype(wanted)


def _names(feed: program_lib.Feed) -> tuple[str, ...]:
  short = feed.tensor.removesuffix(':0')
  return tuple(dict.fromkeys(filter(None, (feed.name, feed.tensor, short))))


def _keys(feeds: Sequence[program_lib.Feed]) -> str:
  return ', '.join(
    f'{_names(feed)[0]!r} ({feed.dtype} {list(feed.shape)})' for feed in feeds
  )


def _make(feed: program_lib.Feed, rng: np.random.Generator) -> np.ndarray:
  shape, dtype = tuple(feed.shape), numpy_dtype(feed.dtype)
  if dtype.hasobject:
    words = [b'one', b'two', b'three', b'four', b'five']
    picks = rng.integers(len(words), size=shape)
    return np.asarray(np.array(words, object)[picks], object).reshape(shape)
  if dtype == np.bool_:
    return rng.integers(2, size=shape).astype(bool)
  if dtype.kind in 'iu' or 'int' in dtype.name:
    limit = min(_INTEGER_LIMIT, 2 if dtype.name in ('int4', 'uint4') else 10)
    return rng.integers(limit, size=shape).astype(dtype)
  if dtype.kind == 'c':
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape)).astype(dtype)
  return np.asarray(rng.standard_normal(shape, np.float32)).astype(dtype)
