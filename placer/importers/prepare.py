"""From a GraphDef as it was read to a graph that is ready to be run.

    repair -> cut at the feeds -> prune to the fetches -> inline calls
           -> prune again -> set-up graph -> strip devices -> infer shapes

Every importer ends here.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tensorflow.core.framework import graph_pb2

from placer.core import errors
from placer.core import program as program_lib
from placer.importers import base
from placer.importers import feeds as feeds_lib
from placer.importers import fetches as fetches_lib
from placer.importers import graph_edges
from placer.importers import inline as inline_lib
from placer.importers import repair as repair_lib
from placer.importers import setup_ops
from placer.importers import shapes
from placer.rewriters import strip


@dataclasses.dataclass(frozen=True)
class Source:
  """What an importer found out about a graph.

  Attributes:
    path: for messages.
    kind: the importer's kind.
    original: the proto as it was read.
    graph_def: the GraphDef in it.
    fetches: tensors or ops, () for the default of `fetches.py`.
    feeds: {tensor: what the user calls it}, or None for every placeholder
      that the fetches need.
    setup: where initial values come from.
    meta_graph_index: index in a SavedModel.
    notes: sentences for the user.
    aliases: {what a signature calls a tensor: the tensor}.
  """

  path: str
  kind: str
  original: Any
  graph_def: graph_pb2.GraphDef
  fetches: tuple[str, ...] = ()
  feeds: Mapping[str, str] | None = None
  setup: setup_ops.SetupSource = dataclasses.field(
    default_factory=setup_ops.SetupSource
  )
  meta_graph_index: int = 0
  notes: tuple[str, ...] = ()
  aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)


def prepare(source: Source, options: base.ImportOptions) -> base.ImportedGraph:
  """Makes the ImportedGraph of a source.

  Args:
    source: what the importer found.
    options: what the user says; it goes before what the importer found.

  Returns:
    The ImportedGraph.

  Raises:
    GraphImportError: the graph cannot be run by this TensorFlow.
    UsageError: a flag names what is not in the graph.
  """
  notes = list(source.notes)
  shapes.load_op_libraries(options.op_libraries)
  repaired, renamed, repair_notes = repair_lib.repair(source.graph_def)
  notes += repair_notes
  old_to_new = {old: new for new, old in renamed.items()}
  nodes = {node.name: node for node in repaired.node}
  fetches = _chosen_fetches(source, options, nodes, old_to_new)
  if not fetches:
    fetches, note = fetches_lib.default_fetches(repaired)
    notes.append(note)
  feeds = _chosen_feeds(source, options, nodes, old_to_new)
  roots = [graph_edges.source(name) for name in fetches]
  stop = {graph_edges.source(name) for name in feeds or ()}
  step = graph_edges.prune(repaired, roots, stop=stop)
  cut = feeds_lib.cut(step, _needed_feeds(step, feeds))
  pruned = graph_edges.prune(cut.graph_def, roots)
  inlined = inline_lib.inline(pruned)
  notes += inlined.notes
  fetches = [edge for name in fetches for edge in _inlined_fetch(name, inlined)]
  step = graph_edges.prune(
    inlined.graph_def, [graph_edges.source(name) for name in fetches]
  )
  setup_graph, ops = setup_ops.setup(repaired, step, source.setup, notes)
  op_paths = {
    name: _with_old_head(path, renamed)
    for name, path in (renamed | inlined.op_paths).items()
  }
  found_devices = strip.devices(step)
  strip.strip_in_place(step)
  strip.strip_in_place(setup_graph)
  _un_jit(step)
  feeds = feeds_lib.resolve_shapes(step, cut.feeds, options, notes)
  outputs = shapes.infer(step, source.path)
  program = program_lib.Program(
    # Deterministic, since the fingerprint tells a resumed search its graph.
    graph_def=step.SerializeToString(deterministic=True),
    setup_graph_def=(
      setup_graph.SerializeToString(deterministic=True) if ops else b''
    ),
    setup_ops=ops,
    feeds=feeds,
    fetches=tuple(dict.fromkeys(fetches)),
    op_paths=op_paths,
    op_libraries=tuple(options.op_libraries),
  )
  return base.ImportedGraph(
    source=source.path,
    kind=source.kind,
    original=source.original,
    program=program,
    graph_def=step,
    outputs=outputs,
    original_devices={
      program.path(name): device for name, device in found_devices.items()
    },
    meta_graph_index=source.meta_graph_index,
    not_original=frozenset(
      program.path(name) for name in cut.made | inlined.made
    ),
    notes=tuple(notes),
  )


def _inlined_fetch(name: str, inlined: inline_lib.Inlined) -> list[str]:
  """What to fetch for a fetch; of an inlined call, its outputs, too."""
  if ':' in name:
    return [_tensor(inlined.resolve(name))]
  outputs, k = [], 0
  while (edge := graph_edges.tensor(name, k)) in inlined.tensors:
    outputs.append(_tensor(inlined.resolve(edge)))
    k += 1
  return [name, *outputs]


def _chosen_fetches(
  source: Source,
  options: base.ImportOptions,
  nodes: Mapping[str, Any],
  old_to_new: Mapping[str, str],
) -> list[str]:
  """The user's fetches, else the source's; [] where nobody names any."""
  wanted = _tensors(options.fetches, nodes, source) or source.fetches
  fetches = [_renamed(name, old_to_new) for name in wanted]
  fetches_lib.check_names(fetches, nodes, '--fetches')
  return fetches


def _tensors(
  names: Sequence[str], nodes: Mapping[str, Any], source: Source
) -> list[str]:
  """The user's names, those of a signature replaced by their tensors."""
  return [
    name
    if graph_edges.source(name) in nodes
    else source.aliases.get(name, name)
    for name in names
  ]


def _renamed(name: str, old_to_new: Mapping[str, str]) -> str:
  node, colon, index = name.partition(':')
  return old_to_new.get(node, node) + colon + index


def _with_old_head(path: str, renamed: Mapping[str, str]) -> str:
  """A path of the repaired graph as a path of the user's graph."""
  head, mark, rest = path.partition('@')
  return renamed.get(head, head) + mark + rest


def _chosen_feeds(
  source: Source,
  options: base.ImportOptions,
  nodes: Mapping[str, Any],
  old_to_new: Mapping[str, str],
) -> dict[str, str] | None:
  """{tensor: what the user calls it}, or None for every placeholder."""
  if options.feeds:
    tensors = _tensors(options.feeds, nodes, source)
    chosen = {
      _tensor(_renamed(tensor, old_to_new)): name
      for tensor, name in zip(tensors, options.feeds, strict=True)
    }
    fetches_lib.check_names(chosen, nodes, '--feeds')
    return chosen
  if source.feeds is None:
    return None
  chosen = {
    _tensor(_renamed(tensor, old_to_new)): name
    for tensor, name in source.feeds.items()
  }
  missing = [t for t in chosen if graph_edges.source(t) not in nodes]
  if missing:
    raise errors.GraphImportError(
      f'The signature feeds {missing[0]!r}, which is not in the graph of '
      f'{source.path!r}. Choose another with --signature, or name the inputs '
      'with --feeds.'
    )
  return chosen


def _needed_feeds(
  step: graph_pb2.GraphDef, feeds: Mapping[str, str] | None
) -> dict[str, str]:
  """The feeds that the step needs: those chosen and every placeholder left."""
  names = {node.name for node in step.node}
  needed = {
    tensor: name
    for tensor, name in (feeds or {}).items()
    if graph_edges.source(tensor) in names
  }
  chosen = {graph_edges.source(tensor) for tensor in needed}
  for node in step.node:
    if node.op in fetches_lib.PLACEHOLDERS and node.name not in chosen:
      needed[f'{node.name}:0'] = node.name
  return needed


def _tensor(name: str) -> str:
  node, _, index = name.partition(':')
  return f'{node}:{index or 0}'


def _un_jit(graph_def: graph_pb2.GraphDef) -> None:
  """jit_compile ignores devices altogether (DESIGN §3.5)."""
  bodies = [graph_def.node] + [f.node_def for f in graph_def.library.function]
  for nodes in bodies:
    for node in nodes:
      if '_XlaMustCompile' in node.attr:
        del node.attr['_XlaMustCompile']
  for function in graph_def.library.function:
    if '_XlaMustCompile' in function.attr:
      del function.attr['_XlaMustCompile']
