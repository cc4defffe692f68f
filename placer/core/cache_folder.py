"""The folder for what can be made again: built models, measured links."""

import functools
import os
import pathlib
import tempfile


def find(name: str) -> pathlib.Path:
  """A folder that can be written.

  Args:
    name: what is kept in it, 'models', 'links'.

  Returns:
    `$PLACER_CACHE_DIR/name`, else `$XDG_CACHE_HOME/placer/name`, else
    `~/.cache/placer/name`; where that cannot be written (a test's sandbox), a
    new temporary folder.
  """
  chosen = os.environ.get('PLACER_CACHE_DIR')
  if chosen:
    folder = pathlib.Path(chosen) / name
  else:
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    folder = pathlib.Path(base) / 'placer' / name
  try:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
      return folder
  except OSError:
    return _fallback(name)


@functools.cache
def _fallback(name: str) -> pathlib.Path:
  return pathlib.Path(tempfile.mkdtemp(prefix=f'placer-{name}-'))
