"""Imports a SavedModel folder of TensorFlow 1 or 2, `.pb` or `.pbtxt`.

Variables are restored by the SavedModel's own restore op, so that both
checkpoint layouts work; assets are named by their full paths.
"""

import os

from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.core.protobuf import saved_model_pb2

from placer.core import errors
from placer.importers import base
from placer.importers import content
from placer.importers import graph_file
from placer.importers import prepare
from placer.importers import setup_ops
from placer.importers import signature

FILES = ('saved_model.pb', 'saved_model.pbtxt')
_SERVE = 'serve'


class SavedModelImporter(base.Importer):
  """Reads a SavedModel folder."""

  kind = 'saved_model'

  def matches(self, path: str) -> bool:
    """Whether `path` is a folder."""
    return os.path.isdir(path)

  def load(self, path: str, options: base.ImportOptions) -> base.ImportedGraph:
    """Imports the folder; see `base.Importer.load`.

    Raises:
      GraphImportError: the folder is no SavedModel; what it holds.
    """
    saved_model = content.read(_proto_file(path))
    if not isinstance(saved_model, saved_model_pb2.SavedModel):
      raise errors.GraphImportError(
        f'{_proto_file(path)!r} holds a {saved_model.DESCRIPTOR.name}, not a '
        'SavedModel. Pass the file itself, or export the model again.'
      )
    index, note = _choose(saved_model, options.tags, path)
    meta_graph = saved_model.meta_graphs[index]
    notes = [note] if note else []
    feeds, fetches = None, ()
    if meta_graph.signature_def:
      feeds, fetches, note = signature.choose(meta_graph, options.signature)
      notes.append(note)
    if not fetches:
      found = graph_file.meta_graph_source(path, meta_graph, options)
      feeds, fetches = found.feeds, found.fetches
      notes.extend(found.notes)
    return prepare.prepare(
      prepare.Source(
        path,
        self.kind,
        saved_model,
        meta_graph.graph_def,
        fetches=fetches,
        feeds=feeds,
        setup=_setup(path, meta_graph, notes),
        meta_graph_index=index,
        notes=tuple(notes),
        aliases=signature.aliases(meta_graph),
      ),
      options,
    )


def _proto_file(path: str) -> str:
  for name in FILES:
    file = os.path.join(path, name)
    if os.path.isfile(file):
      return file
  names = sorted(os.listdir(path))
  raise errors.GraphImportError(
    f'{path!r} is a folder, but not a SavedModel: it has no '
    f'{" or ".join(FILES)}. It holds: {", ".join(names[:8]) or "nothing"}. '
    'Pass a SavedModel folder, or a file in it.'
  )


def _choose(
  saved_model: saved_model_pb2.SavedModel, tags: tuple[str, ...], path: str
) -> tuple[int, str]:
  """(index of the MetaGraph with these tags, a note if there was a choice)."""
  sets = [tuple(sorted(m.meta_info_def.tags)) for m in saved_model.meta_graphs]
  text = '; '.join(','.join(found) or '(none)' for found in sets)
  if tags:
    wanted = tuple(sorted(tags))
    if wanted in sets:
      return sets.index(wanted), ''
    raise errors.UsageError(
      f'--tags={",".join(tags)}: {path!r} has no such MetaGraph. Its tags '
      f'are: {text}.'
    )
  if len(sets) == 1:
    return 0, ''
  for wanted in ((_SERVE,), sets[0]):
    if wanted in sets:
      return (
        sets.index(wanted),
        f'Using tags {",".join(wanted) or "(none)"} of: {text} (--tags).',
      )
  raise AssertionError('sets[0] is in sets')


def _setup(
  path: str, meta_graph: meta_graph_pb2.MetaGraphDef, notes: list[str]
) -> setup_ops.SetupSource:
  path = os.path.abspath(path)
  constants = {
    asset.tensor_info.name.partition(':')[0]: os.path.join(
      path, 'assets', asset.filename
    ).encode()
    for asset in _assets(meta_graph)
  }
  variables = [
    data
    for key in ('variables', 'local_variables')
    if key in meta_graph.collection_def
    for data in meta_graph.collection_def[key].bytes_list.value
  ]
  saver = meta_graph.saver_def
  prefix = os.path.join(path, 'variables', 'variables')
  restore_op = ''
  if saver.restore_op_name and os.path.exists(prefix + '.index'):
    restore_op = saver.restore_op_name
    name = saver.filename_tensor_name.partition(':')[0]
    constants[name] = prefix.encode()
  elif saver.restore_op_name:
    notes.append(
      f'{path!r} has no variables/variables.index, so its variables are not '
      'restored.'
    )
  return setup_ops.SetupSource(
    init_op=_init_op(meta_graph),
    initializers=setup_ops.initializers_from(variables),
    restore_op=restore_op,
    constants=constants,
  )


def _init_op(meta_graph: meta_graph_pb2.MetaGraphDef) -> str:
  """The op that a loader runs after restoring, or ''."""
  signature_def = meta_graph.signature_def.get('__saved_model_init_op')
  if signature_def is not None:
    for info in signature_def.outputs.values():
      return info.name.partition(':')[0]
  for key in ('saved_model_main_op', 'legacy_init_op'):
    if key in meta_graph.collection_def:
      for name in meta_graph.collection_def[key].node_list.value:
        return name.partition(':')[0]
  return ''


def _assets(meta_graph: meta_graph_pb2.MetaGraphDef):
  if meta_graph.asset_file_def:
    return list(meta_graph.asset_file_def)
  if 'saved_model_assets' not in meta_graph.collection_def:
    return []
  found = []
  for packed in meta_graph.collection_def['saved_model_assets'].any_list.value:
    asset = meta_graph_pb2.AssetFileDef()
    if packed.Unpack(asset):
      found.append(asset)
  return found
