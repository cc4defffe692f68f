"""A working graph with the bodies of functional ops laid out beside it.

Ops of a body read what the owner (While, If, Case) is given, and the owner
reads what the body returns, so that the whole is one acyclic graph but for v1
loops. Nodes of bodies are named by their op paths ('loop@body/add').
"""

import dataclasses
from collections.abc import Mapping

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import op_path
from placer.importers import function_body
from placer.importers import graph_edges
from placer.rewriters import function_refs

LOOPS = frozenset(('While', 'StatelessWhile'))
BRANCHES = frozenset(('If', 'StatelessIf', 'Case', 'StatelessCase'))
CALLS = frozenset(('PartitionedCall', 'StatefulPartitionedCall'))


@dataclasses.dataclass(frozen=True)
class FlatGraph:
  """A graph without nesting.

  Attributes:
    nodes: NodeDefs in the graph's order; inputs are 'name', 'name:1', '^name'.
    owners: {op path in a body: working name of the functional op it is in},
      the innermost.
  """

  nodes: list[node_def_pb2.NodeDef]
  owners: Mapping[str, str]


def flatten(graph_def: graph_pb2.GraphDef) -> FlatGraph:
  """Lays the bodies of functional ops out beside the main graph.

  Args:
    graph_def: a working graph; not edited.

  Returns:
    The FlatGraph; nodes of the main graph with bodies are copies that also
    read what their bodies return.
  """
  if not graph_def.library.function:
    return FlatGraph(list(graph_def.node), {})
  bodies = {
    f.signature.name: function_body.FunctionBody(f, graph_def.library)
    for f in graph_def.library.function
  }
  nodes: list[node_def_pb2.NodeDef] = []
  owners: dict[str, str] = {}
  for node in graph_def.node:
    _add(node, bodies, nodes, owners, ())
  return FlatGraph(nodes, owners)


def _add(node, bodies, nodes, owners, active) -> None:
  if node.op not in LOOPS | BRANCHES | CALLS:
    nodes.append(node)
    return
  owner = node_def_pb2.NodeDef()
  owner.CopyFrom(node)
  for label, name in function_refs.references(node, bodies):
    if name in active:
      continue
    body = bodies[name]
    data = [edge for edge in node.input if edge[0] != '^']
    scope = function_body.Scope(
      inputs=data[1:] if node.op in BRANCHES else data,
      controls=(),
      names={n: op_path.enter(node.name, label) + n for n in body.node_names},
      attrs=_attrs(node, label),
    )
    for inner in body.nodes(scope, ()):
      owners[inner.name] = node.name
      _add(inner, bodies, nodes, owners, active + (name,))
    for edge in body.results(scope) + body.control_results(scope):
      source = graph_edges.source(edge)
      if source in scope.body_names:
        owner.input.append('^' + source)
  nodes.append(owner)


def _attrs(node: node_def_pb2.NodeDef, label: str):
  name, _, index = label.partition('.')
  if index:
    return node.attr[name].list.func[int(index)].attr
  return node.attr[name].func.attr if name in node.attr else node.attr
