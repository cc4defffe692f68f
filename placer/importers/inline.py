"""Inlines ordinary function calls, so that their ops can be placed one by one.

`PartitionedCall`, `StatefulPartitionedCall` and legacy calls (the op type is
a function's name) are replaced by what they call, under the names
'call/node'. Functional While, If and Case stay, and each gets functions of its
own, so that a placement of one body is not a placement of another.

What TensorFlow promises of a call is kept: control inputs of the call hold
back the body's first ops; who waits for the call waits for its control
outputs; and a stateful call's outputs are not seen before its side effects
are done.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from tensorflow.core.framework import function_pb2
from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import errors
from placer.core import op_path
from placer.importers import function_body
from placer.importers import graph_edges
from placer.rewriters import function_refs

CALLS = frozenset(('PartitionedCall', 'StatefulPartitionedCall'))
_MAX_DEPTH = 100
_MOST_NODES = 500_000


@dataclasses.dataclass
class Inlined:
  """A graph without ordinary calls in its main graph.

  Attributes:
    graph_def: the graph.
    op_paths: {node name: op path} of nodes that came out of a function.
    made: names of nodes that stand for nothing in the graph.
    tensors: {'call:k' or 'call': input string} of what became of the outputs
      of each inlined call.
    notes: sentences for the user.
  """

  graph_def: graph_pb2.GraphDef
  op_paths: dict[str, str]
  made: set[str]
  tensors: dict[str, str]
  notes: list[str]

  def resolve(self, edge: str) -> str:
    """The input string for what `edge` named before inlining."""
    while edge in self.tensors:
      edge = self.tensors[edge]
    return edge


def inline(graph_def: graph_pb2.GraphDef) -> Inlined:
  """Inlines every ordinary call of the main graph.

  Args:
    graph_def: a graph with library; not edited.

  Returns:
    An Inlined; its library has just the functions that still are called.

  Raises:
    GraphImportError: a function calls itself without end, or its body names
      tensors that aren't there.
  """
  work = _Inliner(graph_def)
  for node in graph_def.node:
    work.add(node, node.name, depth=0)
  return work.result()


class _Inliner:
  """The state of one `inline`."""

  def __init__(self, graph_def: graph_pb2.GraphDef) -> None:
    self._source = graph_def
    self._functions = {
      f.signature.name: function_body.FunctionBody(f, graph_def.library)
      for f in graph_def.library.function
    }
    self._graph = graph_pb2.GraphDef()
    self._graph.versions.CopyFrom(graph_def.versions)
    self._names = {node.name for node in graph_def.node}
    # In a graph with v1 control flow, an op without inputs would run outside
    # its caller's branch or frame; an edge from the caller's input keeps it in.
    self._has_control_flow = any(
      node.op in ('Switch', 'RefSwitch', 'Enter', 'RefEnter')
      for node in graph_def.node
    )
    self._un_jitted: list[str] = []
    self._inlined = Inlined(self._graph, {}, set(), {}, [])

  def add(self, node: node_def_pb2.NodeDef, path: str, depth: int) -> None:
    """Adds a node, or in its place what it calls."""
    body = self._called(node)
    if body is None:
      self._graph.node.append(node)
      return
    if depth > _MAX_DEPTH:
      raise errors.GraphImportError(
        f'Function {body.name!r} calls itself without end (from node {path!r}).'
      )
    if node.attr['_XlaMustCompile'].b:
      self._un_jitted.append(path)
    self._expand(node, path, body, depth)

  def result(self) -> Inlined:
    """Finishes: resolves edges to calls, gives bodies their own functions."""
    result = self._inlined
    if result.tensors:
      for node in self._graph.node:
        for i, edge in enumerate(node.input):
          resolved = result.resolve(edge)
          if resolved != edge:
            node.input[i] = resolved
    if self._functions:
      _OwnFunctions(self._source, self._graph).assign()
    if self._un_jitted:
      result.notes.append(
        f'{len(self._un_jitted)} functions are marked jit_compile=True, which '
        'ignores devices; they are run op by op here: '
        f'{", ".join(self._un_jitted[:3])}.'
      )
    return result

  def _called(
    self, node: node_def_pb2.NodeDef
  ) -> function_body.FunctionBody | None:
    if node.op in CALLS:
      name = node.attr['f'].func.name
      if name not in self._functions:
        raise errors.GraphImportError(
          f'Node {node.name!r} calls function {name!r}, which is not in the '
          "graph's library. Export the graph with its functions."
        )
      return self._functions[name]
    return self._functions.get(node.op)

  def _expand(
    self,
    call: node_def_pb2.NodeDef,
    path: str,
    body: function_body.FunctionBody,
    depth: int,
  ) -> None:
    attrs = call.attr['f'].func.attr if call.op in CALLS else call.attr
    data = [edge for edge in call.input if edge[0] != '^']
    controls = [edge for edge in call.input if edge[0] == '^']
    new_names = {
      name: self._unique(f'{call.name}/{name}') for name in body.node_names
    }
    scope = function_body.Scope(
      inputs=data, controls=controls, names=new_names, attrs=attrs
    )
    if len(self._graph.node) > _MOST_NODES:
      raise errors.GraphImportError(
        f'Inlining the calls of functions makes more than {_MOST_NODES:,} '
        f'nodes (at {path!r}). Fetch less of the graph with --fetches.'
      )
    prefix = op_path.enter(path, function_refs.LEGACY)
    anchors = self._anchors(data, controls)
    for node in body.nodes(scope, anchors):
      inner_path = prefix + body.original_name(node.name, scope)
      device = node.device or call.device
      node.device = device
      self._inlined.op_paths[node.name] = inner_path
      self.add(node, inner_path, depth + 1)
    self._outputs(call, body, scope)

  def _anchors(
    self, data: Sequence[str], controls: Sequence[str]
  ) -> Sequence[str]:
    if controls or not self._has_control_flow:
      return controls
    return ['^' + graph_edges.source(edge) for edge in data[:1]]

  def _outputs(
    self,
    call: node_def_pb2.NodeDef,
    body: function_body.FunctionBody,
    scope: function_body.Scope,
  ) -> None:
    """Maps 'call:k' and 'call' (as a control) to what the body makes."""
    results = body.results(scope)
    after = body.control_results(scope) or [
      '^' + graph_edges.source(edge) for edge in results
    ]
    done = self._graph.node.add(name=call.name, op='NoOp', device=call.device)
    done.input.extend(dict.fromkeys(after or scope.controls))
    waits = body.results_that_must_wait()
    for k, (edge, dtype) in enumerate(
      zip(results, body.result_types(scope), strict=True)
    ):
      if k in waits:
        name = self._unique(f'{call.name}/placer_output_{k}')
        node = self._graph.node.add(name=name, op='Identity')
        self._inlined.made.add(name)
        node.device = call.device
        node.input.extend([edge, '^' + call.name])
        node.attr['T'].type = dtype
        edge = name
      self._inlined.tensors[graph_edges.tensor(call.name, k)] = edge
      if k == 0:
        self._inlined.tensors[f'{call.name}:0'] = edge

  def _unique(self, name: str) -> str:
    if name not in self._names:
      self._names.add(name)
      return name
    number = 1
    while f'{name}_{number}' in self._names:
      number += 1
    return self._unique(f'{name}_{number}')


class _OwnFunctions:
  """Copies library functions until each has exactly one caller."""

  def __init__(
    self, source: graph_pb2.GraphDef, graph: graph_pb2.GraphDef
  ) -> None:
    self._functions: Mapping = {
      f.signature.name: f for f in source.library.function
    }
    self._gradients = {
      g.function_name: g.gradient_func for g in source.library.gradient
    }
    self._graph = graph
    self._used: set[str] = set()

  def assign(self) -> None:
    """Gives each reference in the graph a function of its own."""
    self._visit(self._graph.node, ())

  def _visit(self, nodes, active: tuple[str, ...]) -> None:
    for node in nodes:
      for label, name in list(function_refs.references(node, self._functions)):
        if name in active:  # recursive: cannot be unrolled, stays shared
          continue
        own = self._copy(name)
        if own.signature.name != name:
          function_refs.redirect(node, label, own.signature.name)
        self._visit(own.node_def, active + (name,))

  def _copy(self, name: str) -> function_pb2.FunctionDef:
    own, number = name, 0
    while own in self._used or (number and own in self._functions):
      number += 1
      own = f'{name}_placer_{number}'
    self._used.add(own)
    added = self._graph.library.function.add()
    added.CopyFrom(self._functions[name])
    added.signature.name = own
    gradient = self._gradients.get(name)
    if gradient:
      self._graph.library.gradient.add(
        function_name=own, gradient_func=gradient
      )
      if gradient not in self._used:  # gradients are named, so stay shared
        self._visit(self._copy(gradient).node_def, (gradient,))
    return added
