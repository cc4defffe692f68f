"""numba, with a cache folder that can be written.

    from placer.simulation import compiled

    @compiled.function                  called from Python
    @compiled.inlined                   called from compiled functions only

numba finds no change in a compiled function that another file calls, so the
folder is named by the content of all files here that are compiled. Importing
this module imports numba (0.3 s): modules that are imported without a need to
simulate import it inside a function.
"""

import hashlib
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import numba

from placer.core import cache_folder

_FILES = (
  'event_log.py',
  'event_queue.py',
  'kernel.py',
  'ready_queue.py',
  'records.py',
  'transfers.py',
)


def _folder(files: Iterable[pathlib.Path]) -> str:
  """A folder in the user's `NUMBA_CACHE_DIR`, else in placer's cache."""
  digest = hashlib.sha256()
  for file in files:
    digest.update(file.read_bytes())
  name = f'numba-{digest.hexdigest()[:12]}'
  chosen = os.environ.get('NUMBA_CACHE_DIR')
  return os.path.join(chosen, name) if chosen else str(cache_folder.find(name))


# Read when a function is decorated, so it also holds if numba was imported
# before; functions of others that are decorated later may use it as well.
numba.config.CACHE_DIR = _folder(
  pathlib.Path(__file__).parent / name for name in _FILES
)

_OPTIONS = {
  'nogil': True,
  # No check for division by zero, which C has not either.
  'error_model': 'numpy',
  # No reference counts: nothing is allocated, and the callers hold all arrays.
  # Where the counting is not optimised away it takes four times as long as
  # the simulation, and all threads count in the same memory.
  '_nrt': False,
}
function = numba.njit(cache=True, **_OPTIONS)
# A call that is not inlined passes some 150 words, since every array takes 7.
# Without wrappers, since Python never calls these: half the time to compile.
inlined = numba.njit(
  forceinline=True,
  no_cpython_wrapper=True,
  no_cfunc_wrapper=True,
  **_OPTIONS,
)


def cached(
  files: Iterable[pathlib.Path], *, from_python: bool
) -> Callable[[Any], Any]:
  """A decorator for compiled functions of other folders; they may make arrays.

  Args:
    files: all that such functions are in; another content, another cache.
    from_python: whether Python calls them, or only compiled functions do,
      which halves the time to compile.

  Returns:
    The decorator.
  """
  folder = _folder(files)

  def decorate(python: Any) -> Any:
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
    try:
      return numba.njit(
        cache=from_python,
        nogil=True,
        error_model='numpy',
        no_cpython_wrapper=not from_python,
        no_cfunc_wrapper=True,
      )(python)
    finally:
      numba.config.CACHE_DIR = before

  return decorate
