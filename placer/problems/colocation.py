"""Hard colocation: ops that TensorFlow keeps on one device whatever is asked.

A consumer away from its resource or reference is silently moved to it, soft
placement off included (DESIGN §3.1); conflicts of `_class` are an error. So
these are constraints that hold before any search:

- a resource or reference tensor: its source and all its readers, through
  Identity, Enter, Switch and function arguments;
- `_class` entries 'loc:@name';
- a v1 loop frame, nested frames included (§3.9), and a functional loop with
  its condition and body;
- variants other than TensorLists (datasets, iterators' elements);
- Switch: it runs where its data comes from (seen on TensorFlow 2.21: each of
  the Switch nodes of mtcnn.pb that was placed elsewhere);
- what Grappler's remapper fuses, whatever the devices: a matrix product or
  convolution, the bias added to it, the activation behind that. The fused op
  runs where the product was, so a BiasAdd placed elsewhere silently moves
  (unrolled_lstm.pb: 19 of 28).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.framework import types_pb2

from placer.importers import graph_edges
from placer.importers import op_signature
from placer.problems import flat_graph
from placer.problems import op_graphs
from placer.problems import union_find

_REFERENCE = 100
_ENTER = frozenset(('Enter', 'RefEnter'))
_EXIT = frozenset(('Exit', 'RefExit'))
_SWITCH = frozenset(('Switch', 'RefSwitch'))
_CONTRACTIONS = frozenset((
    'Conv2D', 'Conv3D', 'DepthwiseConv2dNative', 'MatMul', 'BatchMatMul',
    'BatchMatMulV2', 'BatchMatMulV3',
))  # fmt: skip
_NORMS = frozenset((
    'FusedBatchNorm', 'FusedBatchNormV2', 'FusedBatchNormV3',
))  # fmt: skip
_SCALES = _NORMS | frozenset(('BiasAdd', 'BiasAddV1', 'Mul', 'Squeeze'))
_SUMS = frozenset(('Add', 'AddV2'))
_ACTIVATIONS = frozenset((
  'Relu', 'Relu6', 'Elu', 'LeakyRelu', 'Tanh', 'Sigmoid', 'Gelu',
))  # fmt: skip
_LISTS = ('TensorList', 'EmptyTensorList')


def colocate(built: op_graphs.Built) -> np.ndarray:
  """Groups the ops that must share a device.

  Args:
    built: the graph, N ops.

  Returns:
    int32 `[N]`: groups numbered by their first op.
  """
  sets = union_find.UnionFind(len(built.nodes))
  _tie_edges(built, sets)
  _tie_classes(built.nodes, sets)
  _tie_frames(built, sets)
  _tie_functional_loops(built, sets)
  _tie_switches(built, sets)
  _tie_fusions(built, sets)
  return sets.labels()


def _tie_edges(built: op_graphs.Built, sets: union_find.UnionFind) -> None:
  graph, dtype = built.graph, built.tensor_dtype
  tied = (dtype == types_pb2.DT_RESOURCE) | (dtype > _REFERENCE)
  for tensor in np.flatnonzero(dtype == types_pb2.DT_VARIANT):
    source = graph.types[graph.tensor_source[tensor]]
    tied[tensor] = not source.startswith(_LISTS)
  data = np.flatnonzero(graph.edge_tensor >= 0)
  for edge in data[tied[graph.edge_tensor[data]]] if len(tied) else ():
    source, target = int(graph.edge_source[edge]), int(graph.edge_target[edge])
    if dtype[graph.edge_tensor[edge]] > _REFERENCE and not _takes_reference(
      built.nodes[target]
    ):
      continue  # it reads the value, as any reader may from anywhere
    sets.union(source, target)


def _takes_reference(node: node_def_pb2.NodeDef) -> bool:
  """Whether an op that is given a reference uses it as one."""
  definition = op_signature.op_def(node.op)
  return definition is None or any(arg.is_ref for arg in definition.input_arg)


def _tie_classes(
  nodes: Sequence[node_def_pb2.NodeDef], sets: union_find.UnionFind
) -> None:
  index = {node.name: i for i, node in enumerate(nodes)}
  for i, node in enumerate(nodes):
    if '_class' not in node.attr:
      continue
    for entry in node.attr['_class'].list.s:
      target = entry.decode('utf-8', 'replace')
      if target.startswith('loc:@') and target[5:] in index:
        sets.union(i, index[target[5:]])


def _tie_frames(built: op_graphs.Built, sets: union_find.UnionFind) -> None:
  """One group for each outermost v1 loop frame."""
  nodes, graph = built.nodes, built.graph
  readers: Mapping[int, list[int]] = {}
  enters = [i for i, node in enumerate(nodes) if node.op in _ENTER]
  if not enters:
    return
  readers = {i: [] for i in range(len(nodes))}
  for source, target in zip(graph.edge_source, graph.edge_target, strict=True):
    readers[int(source)].append(int(target))
  # The stack of frames an op is in; control flow gives each op just one.
  stacks: dict[int, tuple[str, ...]] = {}
  pending = [(i, ()) for i in range(len(nodes)) if not nodes[i].input]
  while pending:
    i, outer = pending.pop()
    node = nodes[i]
    inner = outer
    if node.op in _ENTER:
      inner = (*outer, node.attr['frame_name'].s.decode())
    known = stacks.get(i)
    if known is not None and len(known) >= len(inner):
      continue
    stacks[i] = inner
    after = inner[:-1] if node.op in _EXIT else inner
    pending.extend((reader, after) for reader in readers[i])
  first: dict[str, int] = {}
  for i, stack in sorted(stacks.items()):
    if stack:
      sets.union(i, first.setdefault(stack[0], i))


def _tie_functional_loops(
  built: op_graphs.Built, sets: union_find.UnionFind
) -> None:
  for i, owner in enumerate(built.owners):
    while owner >= 0:
      if built.nodes[owner].op in flat_graph.LOOPS:
        sets.union(i, int(owner))
      owner = int(built.owners[owner])


def _tie_switches(built: op_graphs.Built, sets: union_find.UnionFind) -> None:
  index = {node.name: i for i, node in enumerate(built.nodes)}
  for i, node in enumerate(built.nodes):
    if node.op in _SWITCH:
      sets.union(i, index[graph_edges.source(node.input[0])])


def _tie_fusions(built: op_graphs.Built, sets: union_find.UnionFind) -> None:
  """A contraction or norm with the epilogues that are its only readers."""
  readers: dict[int, set[int]] = {}
  graph = built.graph
  data = graph.edge_tensor >= 0
  for source, target in zip(
    graph.edge_source[data].tolist(),
    graph.edge_target[data].tolist(),
    strict=True,
  ):
    readers.setdefault(source, set()).add(target)
  summed: set[int] = set()
  for i, kind in enumerate(graph.types):
    if kind not in _CONTRACTIONS and kind not in _NORMS:
      continue
    current = i
    while len(after := readers.get(current, ())) == 1:
      (following,) = after
      kind = graph.types[following]
      # A sum of two products is fused with one of them only.
      if kind not in _SCALES | _ACTIVATIONS and (
        kind not in _SUMS or following in summed
      ):
        break
      if kind in _SUMS:
        summed.add(following)
      sets.union(current, following)
      if kind in _ACTIVATIONS:
        break
      current = following
