"""Repairs what keeps a dumped graph from being imported, and maps it back.

Graphs that people have are often dumps of what TensorFlow made of theirs
(DESIGN §3.10). What is repaired, each with a note:

- names that start with '_' (import refuses them) are renamed;
- `_Arg` becomes Placeholder, `_Retval` becomes Identity;
- attributes that this TensorFlow's ops don't have are dropped;
- `_class` entries that name a node that is gone are dropped.

Op types that are neither registered nor library functions are listed all at
once.
"""

import collections
from collections.abc import Iterable

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import errors
from placer.importers import graph_edges
from placer.importers import op_signature

_PREFIX = 'placer'


def repair(
  graph_def: graph_pb2.GraphDef,
) -> tuple[graph_pb2.GraphDef, dict[str, str], list[str]]:
  """A copy of `graph_def` that TensorFlow can import.

  Args:
    graph_def: as it was read; not edited.

  Returns:
    (the copy, {new name: old name} of renamed nodes, notes for the user).

  Raises:
    GraphImportError: duplicate names, or unregistered ops.
  """
  result = graph_pb2.GraphDef()
  result.CopyFrom(graph_def)
  notes: list[str] = []
  _check_duplicates(result.node)
  _check_inputs(result.node)
  _check_registered(result)
  _strip_unknown_attrs(result, notes)
  renamed = _rename(result, notes)
  _replace_function_ends(result.node, notes)
  _drop_dangling_classes(result.node, notes)
  return result, renamed, notes


def _check_duplicates(nodes: Iterable[node_def_pb2.NodeDef]) -> None:
  counts = collections.Counter(node.name for node in nodes)
  twice = [name for name, count in counts.items() if count > 1]
  if twice:
    raise errors.GraphImportError(
      f'{len(twice)} node names occur twice: {", ".join(twice[:5])}. A '
      'GraphDef has each name once; export it again.'
    )


def _check_inputs(nodes: Iterable[node_def_pb2.NodeDef]) -> None:
  for node in nodes:
    for edge in node.input:
      if edge.strip('^') == '' or not edge.partition(':')[0]:
        raise errors.GraphImportError(
          f'Node {node.name!r} has an input without a name ({edge!r}); the '
          'graph is damaged. Export it again.'
        )


def _check_registered(graph_def: graph_pb2.GraphDef) -> None:
  functions = {f.signature.name for f in graph_def.library.function}
  used = collections.Counter(node.op for node in graph_def.node)
  for function in graph_def.library.function:
    used.update(node.op for node in function.node_def)
  missing = {
    op: count
    for op, count in sorted(used.items())
    if op not in functions and op_signature.op_def(op) is None
  }
  if missing:
    listed = ', '.join(
      f'{op} ({count} node{"s" if count > 1 else ""})'
      for op, count in missing.items()
    )
    raise errors.GraphImportError(
      f'{len(missing)} op types are not registered in this TensorFlow: '
      f'{listed}. Pass the library that has them: --op_library=FILE.so '
      '(repeat it for several).'
    )


def _strip_unknown_attrs(
  graph_def: graph_pb2.GraphDef, notes: list[str]
) -> None:
  functions = {f.signature.name for f in graph_def.library.function}
  known: dict[str, frozenset[str]] = {}
  dropped: collections.Counter[str] = collections.Counter()
  bodies = [graph_def.node] + [
    function.node_def for function in graph_def.library.function
  ]
  for nodes in bodies:
    for node in nodes:
      if node.op in functions:
        continue
      if node.op not in known:
        definition = op_signature.op_def(node.op)
        known[node.op] = frozenset(attr.name for attr in definition.attr)
      for name in node.attr.keys() - known[node.op]:
        if name[0] != '_':
          del node.attr[name]
          dropped[f'{node.op}.{name}'] += 1
  if dropped:
    notes.append(
      'Dropped attributes that this TensorFlow does not know: '
      f'{", ".join(sorted(dropped))}.'
    )


def _rename(graph_def: graph_pb2.GraphDef, notes: list[str]) -> dict[str, str]:
  names = {node.name for node in graph_def.node}
  new_names: dict[str, str] = {}
  for node in graph_def.node:
    if node.name.startswith('_'):
      name = _PREFIX + node.name
      while name in names:
        name = _PREFIX + '_' + name
      names.add(name)
      new_names[node.name] = name
  if not new_names:
    return {}
  for node in graph_def.node:
    node.name = new_names.get(node.name, node.name)
    for i, edge in enumerate(node.input):
      source, index = graph_edges.source_and_index(edge)
      if source in new_names:
        node.input[i] = graph_edges.tensor(new_names[source], index)
    if '_class' in node.attr:
      entries = node.attr['_class'].list.s
      for i, entry in enumerate(entries):
        target = entry.decode('utf-8', 'replace').removeprefix('loc:@')
        if target in new_names:
          entries[i] = f'loc:@{new_names[target]}'.encode()
  notes.append(
    f'Renamed {len(new_names)} nodes whose names start with "_" '
    f'({", ".join(list(new_names)[:3])}); outputs have the old names again.'
  )
  return {new: old for old, new in new_names.items()}


def _replace_function_ends(
  nodes: Iterable[node_def_pb2.NodeDef], notes: list[str]
) -> None:
  replaced = 0
  for node in nodes:
    if node.op in ('_Arg', '_DeviceArg'):
      shapes = node.attr['_output_shapes'].list.shape
      shape = shapes[0] if len(shapes) == 1 else None
      dtype = node.attr['T'].type
      _keep_attrs(node, '_handle_dtypes', '_handle_shapes')
      node.op = 'Placeholder'
      node.attr['dtype'].type = dtype
      if shape is None:
        node.attr['shape'].shape.unknown_rank = True
      else:
        node.attr['shape'].shape.CopyFrom(shape)
      replaced += 1
    elif node.op in ('_Retval', '_DeviceRetval'):
      dtype = node.attr['T'].type
      _keep_attrs(node)
      node.op = 'Identity'
      node.attr['T'].type = dtype
      replaced += 1
  if replaced:
    notes.append(
      f'Read {replaced} _Arg/_Retval nodes of a dumped function as '
      'placeholders and fetches.'
    )


def _keep_attrs(node: node_def_pb2.NodeDef, *names: str) -> None:
  for name in list(node.attr):
    if name not in names:
      del node.attr[name]


def _drop_dangling_classes(
  nodes: Iterable[node_def_pb2.NodeDef], notes: list[str]
) -> None:
  names = {node.name for node in nodes}
  dangling = set()
  for node in nodes:
    if '_class' not in node.attr:
      continue
    entries = list(node.attr['_class'].list.s)
    kept = []
    for entry in entries:
      target = entry.decode('utf-8', 'replace')
      if target.startswith('loc:@') and target[5:] not in names:
        dangling.add(target[5:])
      else:
        kept.append(entry)
    if len(kept) == len(entries):
      continue
    if kept:
      node.attr['_class'].list.s[:] = kept
    else:
      del node.attr['_class']
  if dangling:
    notes.append(
      f'Dropped colocation with {len(dangling)} nodes that are not in the '
      f'graph: {", ".join(sorted(dangling)[:3])}.'
    )
