"""What a step computes when the user doesn't say.

A training graph's step is what its optimiser does; a graph without optimiser
computes its sinks, the ops that nothing reads. Bookkeeping that TensorFlow
puts into graphs (initialisers, savers, summaries) is left out.
"""

import collections
import difflib
from collections.abc import Iterable, Mapping, Sequence

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import errors
from placer.importers import graph_edges
from placer.importers import op_signature

PLACEHOLDERS = frozenset(('Placeholder', 'PlaceholderV2'))
_BOOKKEEPING = frozenset((
    'Const', 'Assign', 'AssignVariableOp', 'IsVariableInitialized',
    'VarIsInitializedOp', 'NoOp', 'ReadVariableOp', 'VarHandleOp',
    'VariableV2', 'Variable', 'RestoreV2', 'SaveV2', 'MergeV2Checkpoints',
    'ShardedFilename', 'MergeSummary', 'ScalarSummary', 'HistogramSummary',
    'Assert', 'IteratorToStringHandle', 'PlaceholderWithDefault',
    'BroadcastGradientArgs', 'Shape', 'ZerosLike', 'MakeIterator',
    'InitializeTable', 'InitializeTableV2', 'InitializeTableFromTextFile',
    'InitializeTableFromTextFileV2', 'LookupTableImport',
    'LookupTableImportV2',
))  # fmt: skip


def default_fetches(graph_def: graph_pb2.GraphDef) -> tuple[list[str], str]:
  """The ops of a step of a graph that says nothing about it.

  Args:
    graph_def: a repaired graph.

  Returns:
    (names of ops, a note that says why these).

  Raises:
    GraphImportError: the graph has no node to fetch.
  """
  nodes = {node.name: node for node in graph_def.node}
  train = _optimizer_ends(nodes)
  if train:
    return train, 'Fetching the optimiser step: ' + _some(train)
  read = {
    graph_edges.source(edge) for node in graph_def.node for edge in node.input
  }
  sinks = [node for node in graph_def.node if node.name not in read]
  ends = [
    node.name
    for node in sinks
    if node.op not in _BOOKKEEPING and node.op not in PLACEHOLDERS
  ] or [node.name for node in sinks]
  if not ends:
    raise errors.GraphImportError(
      'The graph has nothing to fetch: '
      + ('it has no node.' if not nodes else 'each op is read by another.')
      + ' Name what a step computes with --fetches=NAME,...'
    )
  return ends, 'Fetching what nothing reads: ' + _some(ends)


def _some(names: Sequence[str]) -> str:
  more = f' and {len(names) - 5} more' if len(names) > 5 else ''
  return f'{", ".join(names[:5])}{more} (--fetches chooses others).'


def _optimizer_ends(
  nodes: Mapping[str, node_def_pb2.NodeDef],
) -> list[str]:
  """The last of the groups that wait for the optimiser's updates."""
  waiting: dict[str, list[str]] = collections.defaultdict(list)
  for node in nodes.values():
    for edge in node.input:
      if edge[0] == '^':
        waiting[edge[1:]].append(node.name)
  stack = [
      node.name
      for node in nodes.values()
      if node.op.startswith(('Apply', 'ResourceApply', 'ResourceSparseApply',
                             'SparseApply'))
  ]  # fmt: skip
  ends, seen = [], set(stack)
  while stack:
    name = stack.pop()
    groups = [n for n in waiting[name] if _is_group(nodes[n])]
    if not groups:
      ends.append(name)
    for group in groups:
      if group not in seen:
        seen.add(group)
        stack.append(group)
  order = {name: i for i, name in enumerate(nodes)}
  return sorted(ends, key=order.__getitem__)


def _is_group(node: node_def_pb2.NodeDef) -> bool:
  # Adam groups its updates through an Assign of the beta powers and an
  # AssignAdd of the step counter; v1's group() makes NoOps.
  return node.op in ('NoOp', 'AssignAddVariableOp', 'AssignAdd', 'Assign',
                     'AssignVariableOp')  # fmt: skip


def check_names(
  wanted: Iterable[str],
  nodes: Mapping[str, node_def_pb2.NodeDef],
  flag: str,
) -> None:
  """Checks that tensors or ops exist.

  Args:
    wanted: 'op' or 'op:0'.
    nodes: name -> node.
    flag: the flag they came from, for the message.

  Raises:
    UsageError: a name is not in the graph; with the closest that are.
  """
  for name in wanted:
    if name and graph_edges.source(name) in nodes and name[0] != '^':
      _check_index(name, nodes, flag)
      continue
    close = difflib.get_close_matches(name.partition(':')[0], nodes, n=5)
    raise errors.UsageError(
      f'{flag} names {name!r}, which is not in the graph. '
      + (f'Close names: {", ".join(close)}.' if close else '')
      + ' `placer inspect` lists the inputs and outputs.'
    )


def _check_index(
  name: str, nodes: Mapping[str, node_def_pb2.NodeDef], flag: str
) -> None:
  """Checks the output number of 'op:1'; an op alone is always fine."""
  op, colon, index = name.partition(':')
  if not colon:
    return
  node = nodes[op]
  definition = op_signature.op_def(node.op)
  # Of a call of a function, the import itself checks it.
  count = (
    len(op_signature.output_types(node, definition)) if definition else None
  )
  if not index.isdigit() or (count is not None and int(index) >= count):
    raise errors.UsageError(
      f'{flag} names {name!r}; {op!r} ({node.op}) has '
      f'{"outputs" if count is None else f"{count} outputs"}, numbered from 0.'
    )
