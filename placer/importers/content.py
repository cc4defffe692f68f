"""Tells what a file is from what is in it, never from its suffix.

`read` gives one of GraphDef, MetaGraphDef, SavedModel, binary or text; people
have text under `.pb` and MetaGraphs under `.pb`. What is none of these gets a
GraphImportError with the file, what it looks like, and the cure.
"""

import os
import pathlib
import re

from google.protobuf import message
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.core.protobuf import saved_model_pb2

from placer.core import errors

Proto = (
  graph_pb2.GraphDef | meta_graph_pb2.MetaGraphDef | saved_model_pb2.SavedModel
)

_KINDS = (
  saved_model_pb2.SavedModel,
  meta_graph_pb2.MetaGraphDef,
  graph_pb2.GraphDef,
)
_TEXT_KEYS = {
  'saved_model_schema_version': saved_model_pb2.SavedModel,
  'meta_graphs': saved_model_pb2.SavedModel,
  'meta_info_def': meta_graph_pb2.MetaGraphDef,
  'graph_def': meta_graph_pb2.MetaGraphDef,
  'saver_def': meta_graph_pb2.MetaGraphDef,
  'collection_def': meta_graph_pb2.MetaGraphDef,
  'signature_def': meta_graph_pb2.MetaGraphDef,
  'node': graph_pb2.GraphDef,
  'versions': graph_pb2.GraphDef,
  'version': graph_pb2.GraphDef,
  'library': graph_pb2.GraphDef,
}
_TOP_LEVEL_KEY = re.compile(r'\s*(?:#[^\n]*\n\s*)*([a-z_]+)\s*[:{]')
# What people pass by mistake: (bytes, offset, what it is, the cure).
_FOREIGN = (
  (
    b'\x89HDF\r\n\x1a\n',
    0,
    'an HDF5 file (Keras weights or model)',
    'load it in Keras and save it with model.export(folder)',
  ),
  (
    b'PK\x03\x04',
    0,
    'a zip archive (.keras, .npz, .zip)',
    'a .keras file: load it in Keras and save it with model.export(folder)',
  ),
  (b'TFL3', 4, 'a TensorFlow Lite model', 'pass the model it was made from'),
  (b'\x1f\x8b', 0, 'gzip-compressed', 'unpack it with gunzip first'),
  (b'\x93NUMPY', 0, 'a numpy array', 'pass the graph, not its data'),
  (b'\x7fELF', 0, 'a program or shared library', 'pass it as --op_library'),
)
_EXPECTED = (
  'placer reads a GraphDef or MetaGraphDef (binary or text, any suffix) or a '
  'SavedModel folder'
)


def read(path: str | os.PathLike[str]) -> Proto:
  """Reads the one proto that the file holds.

  Args:
    path: a file.

  Returns:
    A GraphDef, MetaGraphDef or SavedModel with at least one node, or an empty
    GraphDef if the file says just that in text.

  Raises:
    GraphImportError: not readable, empty, truncated, or something else; the
      message says what it looks like and what to do.
  """
  try:
    data = pathlib.Path(path).read_bytes()
  except OSError as error:
    raise errors.GraphImportError(
      f'Cannot read {str(path)!r}: {error.strerror}. {_EXPECTED}.'
    ) from error
  if not data:
    raise errors.GraphImportError(
      f'{str(path)!r} is an empty file. {_EXPECTED}.'
    )
  for magic, offset, what, cure in _FOREIGN:
    if data[offset : offset + len(magic)] == magic:
      raise errors.GraphImportError(
        f'{str(path)!r} is {what}, not a graph. {_EXPECTED}; {cure}.'
      )
  text = _as_text(data)
  if text is not None:
    return _parse_text(text, path)
  return _parse_binary(data, path)


def _as_text(data: bytes) -> str | None:
  # Control characters are in every binary proto's first bytes (tags).
  head = data[:4096]
  if any(byte < 32 and byte not in b'\t\n\r\f' for byte in head):
    return None
  try:
    return data.decode('utf-8')
  except UnicodeDecodeError:
    return None


def _parse_text(text: str, path: str | os.PathLike[str]) -> Proto:
  match = _TOP_LEVEL_KEY.match(text)
  kind = _TEXT_KEYS.get(match.group(1)) if match else None
  if kind is None:
    start = ' '.join(text.split())[:60]
    raise errors.GraphImportError(
      f'{str(path)!r} is text, but not a text proto of a graph: it starts '
      f'with {start!r}. {_EXPECTED}; a text GraphDef starts with "node {{".'
    )
  proto = kind()
  try:
    text_format.Parse(text, proto)
  except text_format.ParseError as error:
    raise errors.GraphImportError(
      f'{str(path)!r} looks like a text {kind.DESCRIPTOR.name}, but line '
      f'{error} Mend the file or export it again; {_EXPECTED}.'
    ) from error
  return proto


def _parse_binary(data: bytes, path: str | os.PathLike[str]) -> Proto:
  tried = []
  for kind in _KINDS:
    if not _may_be(data, kind):
      continue
    proto = kind()
    try:
      proto.ParseFromString(data)
    except message.DecodeError:
      tried.append(kind.DESCRIPTOR.name)
      continue
    if _is_sound(proto):
      return proto
    tried.append(kind.DESCRIPTOR.name)
  names = ', '.join(tried or [kind.DESCRIPTOR.name for kind in _KINDS])
  raise errors.GraphImportError(
    f'{str(path)!r} ({len(data):,} bytes, starts with {data[:8].hex(" ")}) '
    f'does not parse as {names}. It may be truncated, or no graph at all. '
    f'{_EXPECTED}; export or copy it again.'
  )


def _may_be(data: bytes, kind: type[Proto]) -> bool:
  """A cheap look at the first tag, so that large files are parsed once."""
  tag = data[0]
  if kind is saved_model_pb2.SavedModel:
    return tag in (0x08, 0x12)
  if kind is graph_pb2.GraphDef:
    return tag in (0x0A, 0x12, 0x18, 0x22)
  return tag in (0x0A, 0x12, 0x1A, 0x22, 0x2A, 0x32)


def _is_sound(proto: Proto) -> bool:
  if isinstance(proto, saved_model_pb2.SavedModel):
    return bool(proto.meta_graphs) and all(
      _is_sound(meta_graph) for meta_graph in proto.meta_graphs
    )
  if isinstance(proto, meta_graph_pb2.MetaGraphDef):
    return proto.HasField('graph_def') and _is_sound(proto.graph_def)
  return bool(proto.node) and all(n.name and n.op for n in proto.node)
