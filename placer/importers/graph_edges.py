"""Reading the input strings of a NodeDef in a GraphDef.

'node', 'node:1' and '^node' are the forms in a GraphDef; function bodies have
'node:output_name:index' instead, see `inline.py`.
"""

from collections.abc import Collection, Iterable, Mapping

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2


def source(edge: str) -> str:
  """The node an input string names: 'a' for 'a', 'a:1', '^a'."""
  if edge[0] == '^':
    return edge[1:]
  return edge.partition(':')[0]


def source_and_index(edge: str) -> tuple[str, int]:
  """('a', 1) for 'a:1', ('a', 0) for 'a', ('a', -1) for '^a'."""
  if edge[0] == '^':
    return edge[1:], -1
  name, _, index = edge.partition(':')
  return name, int(index) if index else 0


def tensor(name: str, index: int) -> str:
  """The canonical input string: 'a' for output 0, 'a:1', '^a' for -1."""
  if index < 0:
    return '^' + name
  return f'{name}:{index}' if index else name


def reachable(
  nodes: Mapping[str, node_def_pb2.NodeDef],
  roots: Iterable[str],
  stop: Collection[str] = (),
) -> set[str]:
  """Names of the nodes that the roots need, the roots included.

  Args:
    nodes: name -> node.
    roots: names to start from; must be in `nodes`.
    stop: names whose own inputs are not followed.

  Returns:
    A set of names.
  """
  seen, stack = set(), list(roots)
  while stack:
    name = stack.pop()
    if name in seen or name not in nodes:
      continue
    seen.add(name)
    if name in stop:
      continue
    stack.extend(source(edge) for edge in nodes[name].input)
  return seen


def prune(
  graph_def: graph_pb2.GraphDef,
  roots: Iterable[str],
  stop: Collection[str] = (),
) -> graph_pb2.GraphDef:
  """A GraphDef with just the nodes that `roots` need.

  TensorFlow places the whole graph, so that one infeasible node that nobody
  fetches blocks every step (DESIGN §3.3).

  Args:
    graph_def: not edited; its order of nodes is kept.
    roots: names of nodes to keep.
    stop: names of nodes that are kept without what they need.

  Returns:
    A new GraphDef with the same versions and library.
  """
  nodes = {node.name: node for node in graph_def.node}
  keep = reachable(nodes, roots, stop)
  result = graph_pb2.GraphDef()
  result.versions.CopyFrom(graph_def.versions)
  result.library.CopyFrom(graph_def.library)
  result.node.extend(node for node in graph_def.node if node.name in keep)
  if len(keep) < len(nodes):
    _name_kept_classes(result, keep)
  return result


def _name_kept_classes(
  graph_def: graph_pb2.GraphDef, keep: Collection[str]
) -> None:
  """Ops that were to be with a node that is gone stay with each other."""
  representatives: dict[bytes, str] = {}
  for node in graph_def.node:
    if '_class' not in node.attr:
      continue
    entries = []
    for entry in node.attr['_class'].list.s:
      target = entry.decode('utf-8', 'replace').removeprefix('loc:@')
      if target not in keep:
        target = representatives.setdefault(entry, node.name)
        entry = f'loc:@{target}'.encode()
      entries.append(entry)
    node.attr['_class'].list.s[:] = entries
