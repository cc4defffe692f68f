"""Checkpoints of a learner: weights, optimizer, arrays, and their config.

    checkpoints/
      config.json              what the checkpoints are of, written first
      step_00000120/
        weights.index, weights.data-…     tf.train.Checkpoint
        state.npz                         arrays by name

A checkpoint is written to a folder beside and renamed when it is whole and on
disk, so that a process which is killed at any moment leaves the one before. The
newest `keep` stay. One of another configuration is refused.
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from placer.core import errors

_STEP = re.compile(r'^step_(\d{8})$')
_PARTIAL = 'partial'


@dataclasses.dataclass(frozen=True, eq=False)
class Restored:
  """What a checkpoint held besides the weights.

  Attributes:
    step: its number.
    arrays: by name.
  """

  step: int
  arrays: Mapping[str, np.ndarray]


def save(
  folder: str | os.PathLike[str],
  step: int,
  trackables: Mapping[str, tf.Module],
  arrays: Mapping[str, np.ndarray],
  config: Mapping[str, Any],
  *,
  keep: int = 2,
) -> None:
  """Writes a checkpoint; it is whole and on disk when this returns.

  Args:
    folder: 'checkpoints'; made if it is not there.
    step: its number; a checkpoint of that number stays as it is, since equal
      runs are equal at equal steps.
    trackables: networks and optimizers by name.
    arrays: the rest of the state.
    config: JSON values by field.
    keep: how many of the newest checkpoints stay.
  """
  folder = pathlib.Path(folder)
  folder.mkdir(parents=True, exist_ok=True)
  _write_config(folder, config)
  target = folder / f'step_{step:08d}'
  if target.exists():
    return
  partial = folder / _PARTIAL
  shutil.rmtree(partial, ignore_errors=True)
  partial.mkdir()
  tf.train.Checkpoint(**trackables).write(str(partial / 'weights'))
  np.savez(partial / 'state.npz', **arrays)
  for file in partial.iterdir():
    _sync(file)
  _sync(partial)
  partial.rename(target)
  _sync(folder)
  for old in sorted(_steps(folder))[:-keep]:
    shutil.rmtree(_steps(folder)[old])


def restore(
  folder: str | os.PathLike[str],
  trackables: Mapping[str, tf.Module],
  config: Mapping[str, Any],
) -> Restored | None:
  """Reads the newest checkpoint.

  Args:
    folder: of `save`.
    trackables: of the same structure as those saved; their variables change.
    config: what the checkpoint must have been saved with.

  Returns:
    The Restored; None where there is no checkpoint.

  Raises:
    UsageError: it is of another configuration; the message names the fields.
  """
  folder = pathlib.Path(folder)
  steps = _steps(folder)
  if not steps:
    return None
  _check_config(folder, config)
  newest = max(steps)
  status = tf.train.Checkpoint(**trackables).read(
    str(steps[newest] / 'weights')
  )
  status.assert_existing_objects_matched()
  with np.load(steps[newest] / 'state.npz') as arrays:
    return Restored(newest, dict(arrays))


def read_config(folder: str | os.PathLike[str]) -> dict[str, Any]:
  """The configuration that the checkpoints of a folder are of.

  Args:
    folder: of `save`.

  Raises:
    UsageError: there is none.
  """
  file = pathlib.Path(folder) / 'config.json'
  try:
    return json.loads(file.read_text())
  except (OSError, ValueError) as error:
    raise errors.UsageError(
      f'{folder} has no checkpoint: {file.name} cannot be read ({error}). Pass '
      'the folder checkpoints/ that `placer train` wrote.'
    ) from error


def _steps(folder: pathlib.Path) -> dict[int, pathlib.Path]:
  if not folder.is_dir():
    return {}
  found = ((_STEP.match(path.name), path) for path in folder.iterdir())
  return {int(match[1]): path for match, path in found if match}


def _write_config(folder: pathlib.Path, config: Mapping[str, Any]) -> None:
  file = folder / 'config.json'
  if file.exists():
    _check_config(folder, config)
    return
  partial = folder / 'config.partial'
  partial.write_text(json.dumps(dict(config), indent=2, sort_keys=True) + '\n')
  _sync(partial)
  partial.rename(file)


def _check_config(folder: pathlib.Path, config: Mapping[str, Any]) -> None:
  theirs = _flat(read_config(folder))
  ours = _flat(json.loads(json.dumps(dict(config))))
  different = [
    f'{name} (there {theirs.get(name)!r}, here {ours.get(name)!r})'
    for name in sorted(theirs.keys() | ours.keys())
    if theirs.get(name) != ours.get(name)
  ]
  if different:
    raise errors.UsageError(
      f'The checkpoint in {folder} is of another configuration: '
      f'{"; ".join(different)}. Take the same flags as then, or another '
      '--output_dir.'
    )


def _flat(config: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
  flat: dict[str, Any] = {}
  for name, value in config.items():
    if isinstance(value, Mapping):
      flat |= _flat(value, f'{prefix}{name}.')
    else:
      flat[prefix + name] = value
  return flat


def _sync(path: pathlib.Path) -> None:
  descriptor = os.open(path, os.O_RDONLY)
  try:
    os.fsync(descriptor)
  finally:
    os.close(descriptor)
