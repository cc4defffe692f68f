"""ImportedGraph and the way to get one: `load`.

  source: the path or model name, for messages.
  kind: 'graph_def', 'meta_graph', 'saved_model'.
  original: the proto as it was read; never edited.
  meta_graph_index: which MetaGraph of a SavedModel, else 0.
  program: the Program (working names, ready to be run).
  graph_def: the program's GraphDef, parsed.
  outputs: {working name: ((dtype enum, shape), ...)} of every output of every
    op, bodies included; shape is a tuple with -1 for unknown dimensions, or
    None for an unknown rank.
  original_devices: {op path: device as the graph has it}; an op in a body
    without one has its caller's.
  not_original: op paths of ops that are not so in the user's graph (a feed cut
    out of it, an output of an inlined call): no device is written for them.
  notes: sentences for the user: defaults chosen, repairs made.

A new format is one file in this folder with an `Importer` subclass; see
CONTRIBUTING.md.
"""

import abc
import dataclasses
import functools
import importlib
import os
import pkgutil
from collections.abc import Mapping
from typing import Any, ClassVar

from tensorflow.core.framework import graph_pb2

from placer.core import errors
from placer.core import program as program_lib

Outputs = Mapping[str, tuple[tuple[int, tuple[int, ...] | None], ...]]


@dataclasses.dataclass(frozen=True)
class ImportOptions:
  """What the user says about a graph.

  Attributes:
    fetches: tensors or ops of a step; () for the default.
    feeds: tensors to be fed; () for the default.
    input_shapes: {feed: shape}; -1 for a dimension left to `batch_size`.
    batch_size: for unknown first dimensions of feeds; None for 1.
    tags: of the MetaGraph in a SavedModel; () for 'serve' or the only one.
    signature: key of the signature; '' for the default.
    op_libraries: files with custom ops.
  """

  fetches: tuple[str, ...] = ()
  feeds: tuple[str, ...] = ()
  input_shapes: Mapping[str, tuple[int, ...]] = dataclasses.field(
    default_factory=dict
  )
  batch_size: int | None = None
  tags: tuple[str, ...] = ()
  signature: str = ''
  op_libraries: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class ImportedGraph:
  """A graph, ready to become a problem; see the module docstring."""

  source: str
  kind: str
  original: Any
  program: program_lib.Program
  graph_def: graph_pb2.GraphDef
  outputs: Outputs
  original_devices: Mapping[str, str]
  meta_graph_index: int = 0
  not_original: frozenset[str] = frozenset()
  notes: tuple[str, ...] = ()


class Importer(abc.ABC):
  """Reads one format.

  Attributes:
    kind: the format's name, snake_case.
  """

  kind: ClassVar[str]

  @abc.abstractmethod
  def matches(self, path: str) -> bool:
    """Whether `path` is of this format's form (a folder, a file)."""

  @abc.abstractmethod
  def load(self, path: str, options: ImportOptions) -> ImportedGraph:
    """Imports `path`.

    Args:
      path: a file or folder that matches.
      options: what the user says about it.

    Returns:
      The ImportedGraph.

    Raises:
      GraphImportError: it cannot be imported; what was wrong, and the cure.
    """


def load(
  path: str | os.PathLike[str], options: ImportOptions | None = None
) -> ImportedGraph:
  """Imports the graph at `path`, whatever its format.

  Args:
    path: a file or a SavedModel folder.
    options: what the user says about it; None for the defaults.

  Returns:
    The ImportedGraph.

  Raises:
    GraphImportError: not there, or not a graph; what it looks like, the cure.
  """
  path = os.fspath(path)
  if not os.path.exists(path):
    raise errors.GraphImportError(
      f'{path!r} does not exist. Pass --graph=FILE with a GraphDef, a '
      'MetaGraphDef or a SavedModel folder, or --model=NAME.'
    )
  for importer in importers():
    if importer.matches(path):
      return importer.load(path, options or ImportOptions())
  raise errors.GraphImportError(f'No importer knows what {path!r} is.')


@functools.cache
def importers() -> tuple[Importer, ...]:
  """One Importer of each format, found in the files of this folder."""
  package = importlib.import_module('placer.importers')
  for module in pkgutil.iter_modules(package.__path__):
    if not module.name.endswith('_test'):
      importlib.import_module(f'placer.importers.{module.name}')
  return tuple(kind() for kind in Importer.__subclasses__())
