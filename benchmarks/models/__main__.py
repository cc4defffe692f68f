"""Writes a built-in model to a file, as a binary MetaGraphDef.

  python -m benchmarks.models --list
  python -m benchmarks.models --model=inception_v3 --training --output=step.meta

Prints the models, or the file's path and what is in it. Run as a program, so
that the caller's TensorFlow is left as it is. Exit codes: 0 written or listed,
1 usage.
"""

import os
import pathlib
from collections.abc import Sequence

import tensorflow as tf
from absl import app
from absl import flags

from benchmarks.models import base

_MODEL = flags.DEFINE_string('model', None, 'Name of a built-in model.')
_TRAINING = flags.DEFINE_bool(
  'training', False, 'Write a training step, not the frozen forward pass.'
)
_BATCH_SIZE = flags.DEFINE_integer(
  'batch_size', None, "Examples a step; the model's default if not given.", 1
)
_OUTPUT = flags.DEFINE_string('output', None, 'File to write.')
_LIST = flags.DEFINE_bool('list', False, 'Print the models and write nothing.')


def main(argv: Sequence[str]) -> None:
  """Runs the command.

  Raises:
    app.UsageError: The flags name no model, no file or too much.
  """
  if len(argv) > 1:
    raise app.UsageError(f'Not a flag: {argv[1]}. Write --flag=value.')
  if _LIST.value:
    print(_listing())
    return
  if not _MODEL.value or not _OUTPUT.value:
    raise app.UsageError('Give --model=NAME and --output=FILE, or --list.')
  try:
    model = base.get(_MODEL.value)
  except base.UnknownModelError as error:
    raise app.UsageError(str(error)) from error
  meta_graph_def = base.build(
    model.name, training=_TRAINING.value, batch_size=_BATCH_SIZE.value
  )
  path = pathlib.Path(_OUTPUT.value)
  try:
    _write(meta_graph_def, path)
  except OSError as error:
    raise app.UsageError(
      f'--output={path} cannot be written: {error}.'
    ) from error
  nodes = len(meta_graph_def.graph_def.node)
  print(f'{path}: {model.name}, {nodes:,} nodes, {path.stat().st_size:,} bytes')


def _listing() -> str:
  """Returns a line a model: name, default batch size, summary."""
  models = [base.get(name) for name in base.names()]
  width = max(len(model.name) for model in models)
  return '\n'.join(
    f'{model.name:{width}}  batch {model.batch_size:3}  {model.summary}'
    for model in models
  )


def _write(
  meta_graph_def: tf.compat.v1.MetaGraphDef, path: pathlib.Path
) -> None:
  """Writes the whole file or none, so that no reader sees half a graph."""
  path.parent.mkdir(parents=True, exist_ok=True)
  part = path.with_name(f'{path.name}.{os.getpid()}.part')
  part.write_bytes(meta_graph_def.SerializeToString(deterministic=True))
  part.replace(path)


if __name__ == '__main__':
  app.run(main)
