"""Initial values: the part of a graph that runs once, before the first step.

A variable of the step gets, in this order of preference: what the SavedModel
restores, the initialiser that the graph's collections name, an assignment the
graph has, or a synthetic value made here (nodes 'placer_setup/...'). Table
initialisers run as they are. All of it is a GraphDef of its own that shares
the handles with the step's graph.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.framework import types_pb2
from tensorflow.core.framework import variable_pb2
from tensorflow.python.framework import tensor_util

from placer.importers import graph_edges
from placer.importers import inline as inline_lib

PREFIX = 'placer_setup/'
_HANDLES = frozenset(('VarHandleOp', 'VariableV2', 'Variable'))
_OTHER_HANDLES = frozenset((
  'HashTable', 'HashTableV2', 'MutableHashTable', 'MutableHashTableV2',
  'MutableDenseHashTable', 'MutableDenseHashTableV2', 'Iterator', 'IteratorV2',
))  # fmt: skip
_ASSIGNS = frozenset(('Assign', 'AssignVariableOp'))
# Op type -> which input is the handle.
_INITIALISERS = {
  'InitializeTable': 0,
  'InitializeTableV2': 0,
  'InitializeTableFromTextFile': 0,
  'InitializeTableFromTextFileV2': 0,
  'LookupTableImport': 0,
  'LookupTableImportV2': 0,
  'MakeIterator': 1,
}
_PASS_ON = frozenset(('Identity', 'Enter', 'RefEnter', 'Switch', 'RefSwitch'))


@dataclasses.dataclass(frozen=True)
class SetupSource:
  """Where initial values can come from.

  Attributes:
    initializers: {name of handle: name of the op that initialises it}.
    restore_op: op that restores variables, or ''.
    init_op: op that initialises tables, or ''.
    constants: {name of node: bytes}, string nodes to be replaced by constants:
      the checkpoint's path, the paths of assets.
  """

  initializers: Mapping[str, str] = dataclasses.field(default_factory=dict)
  restore_op: str = ''
  init_op: str = ''
  constants: Mapping[str, bytes] = dataclasses.field(default_factory=dict)


def setup(
  graph_def: graph_pb2.GraphDef,
  step: graph_pb2.GraphDef,
  source: SetupSource,
  notes: list[str],
) -> tuple[graph_pb2.GraphDef, tuple[str, ...]]:
  """Makes the setup graph of a step.

  Args:
    graph_def: the whole repaired graph; not edited.
    step: the pruned and inlined graph of a step.
    source: where initial values can come from.
    notes: gets a sentence about synthetic values.

  Returns:
    (the setup graph, names of the ops to run once).
  """
  handles = [node for node in step.node if node.op in _HANDLES]
  others = {node.name for node in step.node if node.op in _OTHER_HANDLES}
  if not handles and not others:
    return graph_pb2.GraphDef(versions=step.versions), ()
  whole = _with_constants(graph_def, source.constants)
  restored, result = _restore(whole, handles, source.restore_op)
  initializers = _assignments(whole) | dict(source.initializers)
  names = {node.name for node in whole.node}
  roots = [
    initializers[handle.name]
    for handle in handles
    if handle.name not in restored and initializers.get(handle.name) in names
  ]
  roots += _initialisers_of(whole, others)
  _merge(result, inline_lib.inline(graph_edges.prune(whole, roots)).graph_def)
  if source.init_op in names:
    # TensorFlow 2 has the initialisers of tables in functions.
    inits = inline_lib.inline(
      graph_edges.prune(whole, [source.init_op])
    ).graph_def
    found = _initialisers_of(inits, others)
    _merge(result, graph_edges.prune(inits, found))
    roots += found
  bare = [
    handle
    for handle in handles
    if handle.name not in restored
    and initializers.get(handle.name) not in names
  ]
  synthetic = _synthetic_all(result, bare, notes)
  ops = [*restored.values(), *roots, *synthetic]
  # Each is placed with the handle it initialises, whatever else it names.
  shared = {node.name for node in step.node}
  for node in result.node:
    if node.name not in shared and '_class' in node.attr:
      del node.attr['_class']
  return result, tuple(dict.fromkeys(ops))


def _initialisers_of(
  graph_def: graph_pb2.GraphDef, handles: Collection[str]
) -> list[str]:
  """The ops that initialise these tables and iterators."""
  return [
    node.name
    for node in graph_def.node
    if node.op in _INITIALISERS
    and graph_edges.source(node.input[_INITIALISERS[node.op]]) in handles
  ]


def _restore(
  whole: graph_pb2.GraphDef,
  handles: Sequence[node_def_pb2.NodeDef],
  restore_op: str,
) -> tuple[dict[str, str], graph_pb2.GraphDef]:
  """({handle: the op that restores it}, the graph of just these ops)."""
  if not restore_op:
    return {}, graph_pb2.GraphDef(versions=whole.versions)
  inlined = inline_lib.inline(graph_edges.prune(whole, [restore_op])).graph_def
  wanted = {handle.name for handle in handles}
  restored = {
    name: op for name, op in _assignments(inlined).items() if name in wanted
  }
  return restored, graph_edges.prune(inlined, restored.values())


def _synthetic_all(
  graph: graph_pb2.GraphDef,
  handles: Sequence[node_def_pb2.NodeDef],
  notes: list[str],
) -> list[str]:
  """Adds assignments of small constants; returns those that could be made."""
  if not handles:
    return []
  notes.append(
    f'{len(handles)} variables have no initial value in the graph '
    f'({", ".join(handle.name for handle in handles[:3])}); small constants '
    'are used to measure.'
  )
  names = {node.name for node in graph.node}
  graph.node.extend(handle for handle in handles if handle.name not in names)
  return [op for handle in handles if (op := _synthetic(graph, handle))]


def _assignments(graph_def: graph_pb2.GraphDef) -> dict[str, str]:
  """{handle: the first op that assigns to it without reading it}."""
  nodes = {node.name: node for node in graph_def.node}
  found: dict[str, str] = {}
  for node in graph_def.node:
    if node.op not in _ASSIGNS or not node.input:
      continue
    handle = _handle(node.input[0], nodes)
    if not handle or handle in found:
      continue
    needed = graph_edges.reachable(nodes, [graph_edges.source(node.input[1])])
    # An update of a moving average reads what it assigns; a placeholder
    # (a saver's file name) has no value here.
    if handle in needed or any(
      nodes[name].op == 'Placeholder' for name in needed
    ):
      continue
    found[handle] = node.name
  return found


def _handle(edge: str, nodes: Mapping[str, node_def_pb2.NodeDef]) -> str:
  node = nodes.get(graph_edges.source(edge))
  while node is not None and node.op in _PASS_ON and node.input:
    node = nodes.get(graph_edges.source(node.input[0]))
  return node.name if node is not None and node.op in _HANDLES else ''


def _with_constants(
  graph_def: graph_pb2.GraphDef, constants: Mapping[str, bytes]
) -> graph_pb2.GraphDef:
  if not constants:
    return graph_def
  result = graph_pb2.GraphDef()
  result.CopyFrom(graph_def)
  for node in result.node:
    if node.name in constants:
      name = node.name
      node.Clear()
      node.name, node.op = name, 'Const'
      node.attr['dtype'].type = types_pb2.DT_STRING
      node.attr['value'].tensor.CopyFrom(
        tensor_util.make_tensor_proto(constants[name])
      )
  return result


def _merge(graph: graph_pb2.GraphDef, other: graph_pb2.GraphDef) -> None:
  names = {node.name for node in graph.node}
  graph.node.extend(node for node in other.node if node.name not in names)
  functions = {f.signature.name for f in graph.library.function}
  graph.library.function.extend(
    f for f in other.library.function if f.signature.name not in functions
  )


def _synthetic(
  graph: graph_pb2.GraphDef, handle: node_def_pb2.NodeDef
) -> str | None:
  """Adds an assignment of a small constant; None if the shape is unknown."""
  shape = handle.attr['shape'].shape
  dims = [dim.size for dim in shape.dim]
  if shape.unknown_rank or any(size < 0 for size in dims):
    return None
  dtype = handle.attr['dtype'].type
  name = PREFIX + handle.name
  dims_node = graph.node.add(name=name + '/shape', op='Const')
  dims_node.attr['dtype'].type = types_pb2.DT_INT32
  dims_node.attr['value'].tensor.CopyFrom(
    tensor_util.make_tensor_proto(dims, dtype='int32', shape=[len(dims)])
  )
  value = graph.node.add(name=name + '/scalar', op='Const')
  value.attr['dtype'].type = dtype
  value.attr['value'].tensor.dtype = dtype
  _small(value.attr['value'].tensor, dtype)
  fill = graph.node.add(name=name + '/fill', op='Fill')
  fill.input.extend([dims_node.name, value.name])
  fill.attr['T'].type = dtype
  fill.attr['index_type'].type = types_pb2.DT_INT32
  is_resource = handle.op == 'VarHandleOp'
  assign = graph.node.add(
    name=name + '/assign', op='AssignVariableOp' if is_resource else 'Assign'
  )
  assign.input.extend([handle.name, fill.name])
  assign.attr['dtype' if is_resource else 'T'].type = dtype
  return assign.name


def _small(tensor, dtype: int) -> None:
  """0.01 for float32/64, else the type's zero; never a denormal or a NaN."""
  tensor.tensor_shape.SetInParent()
  if dtype == types_pb2.DT_FLOAT:
    tensor.float_val.append(0.01)
  elif dtype == types_pb2.DT_DOUBLE:
    tensor.double_val.append(0.01)
  elif dtype == types_pb2.DT_STRING:
    tensor.string_val.append(b'')


def initializers_from(variables: Iterable[bytes]) -> dict[str, str]:
  """{handle: initialiser} from serialised VariableDefs of a collection."""
  result = {}
  for data in variables:
    variable = variable_pb2.VariableDef.FromString(data)
    result[graph_edges.source(variable.variable_name)] = (
      variable.initializer_name
    )
  return result
