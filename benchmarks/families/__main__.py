"""Writes graphs of a family to files, each a binary MetaGraphDef.

  python -m benchmarks.families --list
  python -m benchmarks.families --family=cifar10 --output_dir=DIR --split=train

Prints the families, or a line for each file: its path, what is in it, the
seconds it took. The files are named for the members, `cifar10_00.pb`; the same
command writes the same bytes. Exit codes: 0 written or listed, 1 usage.
"""

import os
import pathlib
import time
from collections.abc import Sequence

import tensorflow as tf
from absl import app
from absl import flags

from benchmarks.families import base

_FAMILY = flags.DEFINE_string('family', None, 'Name of a family.')
_OUTPUT_DIR = flags.DEFINE_string('output_dir', None, 'Folder for the files.')
_SPLIT = flags.DEFINE_enum(
  'split', 'all', list(base.SPLITS), 'Which half of the family.'
)
_COUNT = flags.DEFINE_integer(
  'count', None, 'Graphs at most, the first ones; all if not given.', 1
)
_SEED = flags.DEFINE_integer(
  'seed', 0, 'Of the draws; another one gives another family of the kind.'
)
_LIST = flags.DEFINE_bool('list', False, 'Print the families, write nothing.')


def main(argv: Sequence[str]) -> None:
  """Runs the command.

  Raises:
    app.UsageError: The flags name no family, no folder or too much.
  """
  if len(argv) > 1:
    raise app.UsageError(f'Not a flag: {argv[1]}. Write --flag=value.')
  if _LIST.value:
    for name in base.names():
      print(f'{name:8} {base.get(name).summary}')
    return
  if not _FAMILY.value or not _OUTPUT_DIR.value:
    raise app.UsageError('Give --family=NAME and --output_dir=DIR, or --list.')
  try:
    members = base.members(_FAMILY.value, _SPLIT.value, seed=_SEED.value)
  except ValueError as error:
    raise app.UsageError(str(error)) from error
  folder = pathlib.Path(_OUTPUT_DIR.value)
  try:
    folder.mkdir(parents=True, exist_ok=True)
    for member in members[: _COUNT.value]:
      _write(member, folder / f'{member.name}.pb')
  except OSError as error:
    raise app.UsageError(
      f'--output_dir={folder} cannot be written: {error}.'
    ) from error


def _write(member: base.Member, path: pathlib.Path) -> None:
  """Writes the whole file or none, so that no reader sees half a graph."""
  begin = time.perf_counter()
  content = member.build()
  part = path.with_name(f'{path.name}.{os.getpid()}.part')
  part.write_bytes(content)
  part.replace(path)
  nodes = len(tf.compat.v1.MetaGraphDef.FromString(content).graph_def.node)
  print(
    f'{path}: {nodes:,} nodes, {len(content):,} bytes, '
    f'{time.perf_counter() - begin:.1f} s',
    flush=True,
  )


if __name__ == '__main__':
  app.run(main)
