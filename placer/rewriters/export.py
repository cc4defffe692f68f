"""Writes a placed graph in the form it came in.

A text proto stays text, a MetaGraph keeps its collections and signatures, a
SavedModel folder is copied with variables and assets as they are. Devices
that the graph had before are removed everywhere; what isn't placed (savers,
initialisers, other signatures) has none.
"""

import os
import pathlib
import shutil
from collections.abc import Iterable, Mapping

from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.core.protobuf import saved_model_pb2

from placer.core import errors
from placer.core import op_path
from placer.rewriters import annotate
from placer.rewriters import strip
from placer.rewriters import verify

_SAVED_MODEL_FILES = ('saved_model.pb', 'saved_model.pbtxt')
# Made from the graph by TensorFlow; wrong for the placed one.
_STALE_FILES = ('fingerprint.pb',)


def export(
  original: object,
  devices: Mapping[str, str],
  source: str | os.PathLike[str],
  target: str | os.PathLike[str],
  *,
  meta_graph_index: int = 0,
) -> pathlib.Path:
  """Writes the placed graph.

  Args:
    original: the GraphDef, MetaGraphDef or SavedModel as it was read; not
      edited.
    devices: op path -> full device name, of ops of the original.
    source: where it was read from.
    target: a folder, made if it is not there.
    meta_graph_index: which MetaGraph of a SavedModel.

  Returns:
    The file or SavedModel folder written: in `target`, named 'placed_graph'
    with a suffix that says its form.

  Raises:
    PlacerError: the result differs from the original in more than devices.
    UsageError: `target` cannot be written.
  """
  target = pathlib.Path(target)
  try:
    target.mkdir(parents=True, exist_ok=True)
    if isinstance(original, saved_model_pb2.SavedModel):
      return _saved_model(original, devices, source, target, meta_graph_index)
    placed = type(original)()
    placed.CopyFrom(original)
    is_meta = isinstance(original, meta_graph_pb2.MetaGraphDef)
    graph_def = original.graph_def if is_meta else original
    place(graph_def, devices, placed.graph_def if is_meta else placed)
    suffix = '.meta' if is_meta else '.pb'
    if _is_text(source):
      file = target / f'placed_graph{suffix}txt'
      _replace(file, text_format.MessageToString(placed).encode())
    else:
      file = target / f'placed_graph{suffix}'
      _replace(file, placed.SerializeToString())
    return file
  except OSError as error:
    raise errors.UsageError(
      f'Cannot write the placed graph to {str(target)!r}: {error.strerror}. '
      'Choose another --output_dir.'
    ) from error


def place(
  original: graph_pb2.GraphDef,
  devices: Mapping[str, str],
  result: graph_pb2.GraphDef,
) -> None:
  """Makes `result` the original with these devices and no others.

  Args:
    original: not edited.
    devices: op path -> full device name.
    result: is overwritten.

  Raises:
    PlacerError: the result differs from the original in more than devices.
  """
  bare = strip.strip(original)
  _drop_repeated_functions(bare)
  placed = annotate.annotate(bare, devices)
  _un_jit(placed, devices)
  verify.verify(original, placed, legal_devices=set(devices.values()))
  result.CopyFrom(placed)


def _drop_repeated_functions(graph_def: graph_pb2.GraphDef) -> None:
  """TensorFlow takes a function twice only if both are the same."""
  first = {}
  for function in graph_def.library.function:
    first.setdefault(function.signature.name, function)
  if len(first) < len(graph_def.library.function):
    kept = list(first.values())
    copies = [type(each).FromString(each.SerializeToString()) for each in kept]
    del graph_def.library.function[:]
    graph_def.library.function.extend(copies)


def _un_jit(graph_def: graph_pb2.GraphDef, paths: Iterable[str]) -> None:
  """A jit-compiled call ignores the devices in what it calls (DESIGN §3.5)."""
  callers = {hop for path in paths for hop, _ in op_path.split(path)[0]}
  if not callers:
    return
  bodies = [graph_def.node] + [f.node_def for f in graph_def.library.function]
  for nodes in bodies:
    for node in nodes:
      if node.name in callers and node.attr.get('_XlaMustCompile') is not None:
        node.attr['_XlaMustCompile'].b = False
        name = node.attr['f'].func.name
        for function in graph_def.library.function:
          if function.signature.name == name:
            function.attr['_XlaMustCompile'].b = False


def _saved_model(
  original: saved_model_pb2.SavedModel,
  devices: Mapping[str, str],
  source: str | os.PathLike[str],
  target: pathlib.Path,
  index: int,
) -> pathlib.Path:
  placed = saved_model_pb2.SavedModel()
  placed.CopyFrom(original)
  place(
    original.meta_graphs[index].graph_def,
    devices,
    placed.meta_graphs[index].graph_def,
  )
  folder = target / 'placed_saved_model'
  partial = target / 'placed_saved_model.partial'
  for old in (partial, folder):
    if old.exists():
      shutil.rmtree(old)
  shutil.copytree(
    source,
    partial,
    ignore=shutil.ignore_patterns(*_SAVED_MODEL_FILES, *_STALE_FILES),
    copy_function=shutil.copyfile,
  )
  is_text = not (pathlib.Path(source) / 'saved_model.pb').exists()
  name = 'saved_model.pbtxt' if is_text else 'saved_model.pb'
  data = (
    text_format.MessageToString(placed).encode()
    if is_text
    else placed.SerializeToString()
  )
  (partial / name).write_bytes(data)
  partial.replace(folder)
  return folder


def _is_text(path: str | os.PathLike[str]) -> bool:
  try:
    with open(path, 'rb') as file:
      head = file.read(512)
  except OSError:
    return False
  return all(byte >= 32 or byte in b'\t\n\r\f' for byte in head)


def _replace(file: pathlib.Path, data: bytes) -> None:
  partial = file.with_name(file.name + '.partial')
  partial.write_bytes(data)
  partial.replace(file)
