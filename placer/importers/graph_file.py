"""Imports a file: GraphDef or MetaGraphDef, binary or text.

A MetaGraph says what a step is: its `train_op` collection, else a signature,
else what its optimiser does.
"""

import os
from collections.abc import Sequence

from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.core.protobuf import saved_model_pb2

from placer.core import errors
from placer.importers import base
from placer.importers import content
from placer.importers import prepare
from placer.importers import setup_ops
from placer.importers import signature

_TRAIN_OP = 'train_op'
_VARIABLES = ('variables', 'local_variables')


class GraphFileImporter(base.Importer):
  """Reads a GraphDef or a MetaGraphDef."""

  kind = 'graph_file'

  def matches(self, path: str) -> bool:
    """Whether `path` is a file."""
    return os.path.isfile(path)

  def load(self, path: str, options: base.ImportOptions) -> base.ImportedGraph:
    """Imports the file; see `base.Importer.load`.

    Raises:
      GraphImportError: the file is not a graph; what it is, and the cure.
    """
    proto = content.read(path)
    if isinstance(proto, saved_model_pb2.SavedModel):
      folder = os.path.dirname(path) or '.'
      raise errors.GraphImportError(
        f'{path!r} is the graph of a SavedModel, whose variables lie beside '
        f'it. Pass the folder: --graph={folder}.'
      )
    if isinstance(proto, graph_pb2.GraphDef):
      if options.signature or options.tags:
        raise errors.UsageError(
          f'{path!r} is a GraphDef, which has no signatures and no tags. Leave '
          '--signature and --tags out; --fetches names what a step computes.'
        )
      return prepare.prepare(
        prepare.Source(path, 'graph_def', proto, proto), options
      )
    return prepare.prepare(meta_graph_source(path, proto, options), options)


def meta_graph_source(
  path: str,
  meta_graph: meta_graph_pb2.MetaGraphDef,
  options: base.ImportOptions,
) -> prepare.Source:
  """What a MetaGraphDef says about itself.

  Args:
    path: for messages.
    meta_graph: the MetaGraphDef.
    options: `signature` chooses one.

  Returns:
    A Source.

  Raises:
    UsageError: no such signature.
  """
  notes: list[str] = []
  fetches: tuple[str, ...] = ()
  feeds = None
  train_ops = _node_list(meta_graph, _TRAIN_OP)
  if train_ops and not options.signature:
    fetches = tuple(name.partition(':')[0] for name in train_ops)
    notes.append(f'Fetching the train_op collection: {", ".join(fetches)}.')
  elif meta_graph.signature_def:
    feeds, fetches, note = signature.choose(meta_graph, options.signature)
    notes.append(note)
  elif options.signature:
    raise errors.UsageError(
      f'--signature={options.signature}: {path!r} has no signatures. Leave '
      'the flag out, or name the outputs with --fetches.'
    )
  variables = [
    data
    for key in _VARIABLES
    if key in meta_graph.collection_def
    for data in meta_graph.collection_def[key].bytes_list.value
  ]
  return prepare.Source(
    path,
    'meta_graph',
    meta_graph,
    meta_graph.graph_def,
    fetches=fetches,
    feeds=feeds,
    setup=setup_ops.SetupSource(
      initializers=setup_ops.initializers_from(variables)
    ),
    notes=tuple(notes),
    aliases=signature.aliases(meta_graph),
  )


def _node_list(
  meta_graph: meta_graph_pb2.MetaGraphDef, key: str
) -> Sequence[str]:
  if key not in meta_graph.collection_def:
    return ()
  return list(meta_graph.collection_def[key].node_list.value)
