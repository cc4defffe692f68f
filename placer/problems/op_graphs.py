"""ImportedGraph -> OpGraph: ops, tensors with their bytes, edges, flops."""

import dataclasses
import heapq
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import dtypes

from placer.core import op_graph
from placer.importers import base
from placer.importers import graph_edges
from placer.problems import flat_graph
from placer.problems import flops as flops_lib

# Types whose tensors are handles: they don't move, so they weigh nothing.
_HANDLES = frozenset((types_pb2.DT_RESOURCE,))
# What an element of unknown size is taken as, in bytes.
_OPAQUE_BYTES = 64
_V1_GRADIENT = re.compile(r'(?:^|/)gradients(?:_\d+)?/(.+)_grad/')
_REFERENCE = 100  # a dtype enum above is a reference type


@dataclasses.dataclass(frozen=True, eq=False)
class Built:
  """An OpGraph and what it was made from.

  Attributes:
    graph: N ops.
    nodes: their N NodeDefs, in the same order.
    owners: int32 `[N]`, the functional op whose body an op is in, or -1.
    tensor_dtype: int32 `[T]`, dtype enums; references above 100.
    notes: sentences for the user.
  """

  graph: op_graph.OpGraph
  nodes: Sequence[node_def_pb2.NodeDef]
  owners: np.ndarray
  tensor_dtype: np.ndarray
  notes: tuple[str, ...]


def build(imported: base.ImportedGraph) -> Built:
  """Makes the OpGraph of an imported graph.

  Args:
    imported: a graph, ready to be run.

  Returns:
    A Built, ops in topological order.
  """
  flat = flat_graph.flatten(imported.graph_def)
  nodes = _ordered(flat.nodes)
  index = {node.name: i for i, node in enumerate(nodes)}
  first, shapes, tensors = _tensors(nodes, imported.outputs)
  edges = _edges(nodes, index, first)
  owners = np.array(
    [index.get(flat.owners.get(node.name, ''), -1) for node in nodes],
    np.int32,
  )
  path = imported.program.path
  graph = op_graph.OpGraph(
    names=tuple(path(node.name) for node in nodes),
    types=tuple(node.op for node in nodes),
    flops=_flops(nodes, index, first, shapes),
    persistent_bytes=_persistent(nodes, first, tensors['bytes']),
    original_devices=_original_devices(
      nodes, owners, path, imported.original_devices
    ),
    tensor_source=tensors['source'],
    tensor_bytes=tensors['bytes'],
    tensor_shape_known=tensors['known'],
    **edges,
  )
  unknown = int((~graph.tensor_shape_known).sum())
  notes = ()
  if unknown:
    notes = (
      f'{unknown} of {len(graph.tensor_bytes)} tensors have dimensions that '
      'only a run can tell; they are taken as 1. --input_shapes may fix some.',
    )
  return Built(graph, nodes, owners, tensors['dtype'], notes)


def _ordered(
  nodes: Sequence[node_def_pb2.NodeDef],
) -> list[node_def_pb2.NodeDef]:
  """Topological order, stable; v1 loops are cut at Merge <- NextIteration."""
  index = {node.name: i for i, node in enumerate(nodes)}
  next_iteration = {
    node.name
    for node in nodes
    if node.op in ('NextIteration', 'RefNextIteration')
  }
  waiting = [0] * len(nodes)
  readers: list[list[int]] = [[] for _ in nodes]
  for i, node in enumerate(nodes):
    for edge in node.input:
      source = graph_edges.source(edge)
      if source in next_iteration and node.op in ('Merge', 'RefMerge'):
        continue
      readers[index[source]].append(i)
      waiting[i] += 1
  # A heap keeps the graph's own order wherever that is topological already.
  ready = [i for i, count in enumerate(waiting) if not count]
  order = []
  while ready:
    i = heapq.heappop(ready)
    order.append(i)
    for reader in readers[i]:
      waiting[reader] -= 1
      if not waiting[reader]:
        heapq.heappush(ready, reader)
  # TensorFlow took the graph, so it has no other cycles; keep every op anyway.
  if len(order) < len(nodes):
    seen = set(order)
    order.extend(i for i in range(len(nodes)) if i not in seen)
  return [nodes[i] for i in order]


def _tensors(nodes: Sequence[node_def_pb2.NodeDef], outputs: base.Outputs):
  """First tensor of each op, shapes of all, and the tensor arrays."""
  first = [0]
  shapes: list[tuple[int, ...]] = []
  source, sizes, known, types = [], [], [], []
  for i, node in enumerate(nodes):
    for dtype, shape in outputs.get(node.name, ()):
      fixed = shape is not None and -1 not in shape
      dims = tuple(max(size, 1) if size < 0 else size for size in shape or ())
      shapes.append(dims)
      source.append(i)
      sizes.append(_bytes(dtype, dims))
      known.append(fixed)
      types.append(dtype)
    first.append(len(source))
  return (
    first,
    shapes,
    {
      'source': np.array(source, np.int32),
      'bytes': np.array(sizes, np.int64),
      'known': np.array(known, bool),
      'dtype': np.array(types, np.int32),
    },
  )


def _bytes(dtype: int, dims: Sequence[int]) -> int:
  if dtype in _HANDLES or dtype > _REFERENCE:
    return 0
  if dtype in (types_pb2.DT_STRING, types_pb2.DT_VARIANT):
    return math.prod(dims) * _OPAQUE_BYTES
  return math.prod(dims) * dtypes.as_dtype(dtype).size


def _edges(nodes, index: Mapping[str, int], first: Sequence[int]):
  source, target, tensor, back = [], [], [], []
  for i, node in enumerate(nodes):
    for edge in node.input:
      name, output = graph_edges.source_and_index(edge)
      j = index[name]
      source.append(j)
      target.append(i)
      has_tensor = output >= 0 and first[j] + output < first[j + 1]
      tensor.append(first[j] + output if has_tensor else -1)
      back.append(j >= i)
  return {
    'edge_source': np.array(source, np.int32),
    'edge_target': np.array(target, np.int32),
    'edge_tensor': np.array(tensor, np.int32),
    'edge_is_back': np.array(back, bool),
  }


def _flops(nodes, index, first, shapes) -> np.ndarray:
  result = np.zeros(len(nodes))
  for i, node in enumerate(nodes):
    inputs = []
    for edge in node.input:
      name, output = graph_edges.source_and_index(edge)
      at = first[index[name]] + output
      if output >= 0 and at < len(shapes):
        inputs.append(shapes[at])
    result[i] = flops_lib.flops(node, inputs, shapes[first[i] : first[i + 1]])
  return result


def _persistent(nodes, first, tensor_bytes) -> np.ndarray:
  result = np.zeros(len(nodes), np.int64)
  for i, node in enumerate(nodes):
    if node.op == 'Const':
      result[i] = tensor_bytes[first[i] : first[i + 1]].sum()
    elif node.op in ('VarHandleOp', 'VariableV2', 'Variable'):
      shape = node.attr['shape'].shape
      if not shape.unknown_rank:
        dims = [max(dim.size, 1) for dim in shape.dim]
        result[i] = _bytes(node.attr['dtype'].type, dims)
  return result


def _original_devices(nodes, owners, path, devices) -> tuple[str, ...]:
  """The graph's own devices; a gradient without one has its forward op's.

  TensorFlow gives gradient ops no device (DESIGN §3.6), so that a forward pass
  split by hand would do all its gradients on one device.
  """
  result = [devices.get(path(node.name), '') for node in nodes]
  for i in range(len(nodes)):
    owner = owners[i]
    while not result[i] and owner >= 0:
      result[i] = result[owner]
      owner = owners[owner]
  if any(result):
    index = {node.name: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
      if not result[i]:
        forward = _forward(node, nodes, index)
        result[i] = result[forward] if forward is not None else ''
  return tuple(result)


def _forward(node, nodes, index: Mapping[str, int]) -> int | None:
  """The forward op of a gradient op, by TensorFlow's ways of naming them."""
  match = _V1_GRADIENT.search(node.name)
  if match and match.group(1) in index:
    return index[match.group(1)]
  _, mark, rest = node.name.partition('gradient_tape/')
  if not mark:
    return None
  while rest:
    if rest in index:
      return index[rest]
    rest = rest.rpartition('/')[0]
  # A tape keeps only the scope; TanhGrad reads what its Tanh made.
  for edge in node.input:
    source = index[graph_edges.source(edge)]
    if node.op == nodes[source].op + 'Grad':
      return source
  return None
