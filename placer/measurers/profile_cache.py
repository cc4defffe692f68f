"""Profiles, kept between runs.

One .npz file a profile, in the folder 'profiles' of `cache_folder`, named after
a hash of what was run and where. A file that cannot be read or written only
means that the step is profiled again.
"""

import hashlib
import os
import pathlib
import zipfile

import numpy as np

from placer.core import cache_folder
from placer.core import step_profile

_SCHEMA = 2


def load(key: str) -> step_profile.StepProfile | None:
  """The profile of a key, or None.

  Args:
    key: all that a profile depends on.
  """
  try:
    with np.load(_path(key), allow_pickle=False) as arrays:
      return step_profile.StepProfile.of(arrays)
  except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
    return None


def save(key: str, profile: step_profile.StepProfile) -> None:
  """Keeps a profile, if the cache folder can be written.

  Args:
    key: all that it depends on.
    profile: what to keep.
  """
  path = _path(key)
  partial = path.with_name(f'{os.getpid()}.{path.name}')
  try:
    with open(partial, 'wb') as file:
      np.savez_compressed(file, **profile.arrays())
    partial.replace(path)
  except OSError:
    pass  # profiled again next time


def _path(key: str) -> pathlib.Path:
  digest = hashlib.sha256(f'{_SCHEMA} {key}'.encode()).hexdigest()[:24]
  return cache_folder.find('profiles') / f'{digest}.npz'
