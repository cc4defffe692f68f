"""A FunctionDef's body, written as nodes of a GraphDef.

In a body, inputs are 'argument', 'node:output_name:index' or '^node'; in a
GraphDef 'node:index'. Attributes may be placeholders for the call's.
"""

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence

from tensorflow.core.framework import function_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import errors
from placer.importers import graph_edges
from placer.importers import op_signature


@dataclasses.dataclass(frozen=True)
class Scope:
  """One call of a function.

  Attributes:
    inputs: input strings for the function's argument tensors, in order.
    controls: control inputs of the call, '^a'.
    names: {name in the body: name in the graph}.
    attrs: attributes of the call that placeholders stand for.
  """

  inputs: Sequence[str]
  controls: Sequence[str]
  names: Mapping[str, str]
  attrs: op_signature.Attrs

  @functools.cached_property
  def body_names(self) -> dict[str, str]:
    """The inverse of `names`."""
    return {new: old for old, new in self.names.items()}


class FunctionBody:
  """The body of one library function; see the module docstring."""

  def __init__(
    self,
    function: function_pb2.FunctionDef,
    library: function_pb2.FunctionDefLibrary,
  ) -> None:
    self._function = function
    self._library = library
    self.name = function.signature.name
    self._fixed_starts: dict[str, dict[str, int]] = {}

  @functools.cached_property
  def _signatures(self):
    return {f.signature.name: f.signature for f in self._library.function}

  @functools.cached_property
  def node_names(self) -> tuple[str, ...]:
    """The names of the body's nodes."""
    return tuple(node.name for node in self._function.node_def)

  @functools.cached_property
  def _nodes(self) -> dict[str, node_def_pb2.NodeDef]:
    return {node.name: node for node in self._function.node_def}

  def original_name(self, name: str, scope: Scope) -> str:
    """The name in the body of a node that `nodes` made."""
    return scope.body_names[name]

  def nodes(
    self, scope: Scope, anchors: Sequence[str]
  ) -> Iterator[node_def_pb2.NodeDef]:
    """Yields the body's nodes as nodes of the caller's graph.

    Args:
      scope: the call.
      anchors: control inputs for nodes that otherwise have no input from the
        body.

    Yields:
      New NodeDefs.

    Raises:
      GraphImportError: a node names a tensor that is not in the body.
    """
    starts = self._offsets(scope)
    for original in self._function.node_def:
      node = node_def_pb2.NodeDef()
      node.CopyFrom(original)
      node.name = scope.names[original.name]
      del node.input[:]
      edges = [self._edge(e, scope, starts) for e in original.input]
      node.input.extend(edges)
      if anchors and not any(
        graph_edges.source(edge) in scope.names for edge in original.input
      ):
        if scope.controls or not original.input:
          node.input.extend(a for a in anchors if a not in edges)
      self._fill_attrs(node, scope)
      yield node

  def results(self, scope: Scope) -> list[str]:
    """The input strings of the function's output tensors, in order."""
    starts = self._offsets(scope)
    edges = []
    for name, types in op_signature.arg_types(
      self._function.signature.output_arg, scope.attrs
    ):
      edge = self._edge(self._function.ret[name], scope, starts)
      source, index = graph_edges.source_and_index(edge)
      if len(types) == 1:
        edges.append(edge)
      else:
        edges.extend(
          graph_edges.tensor(source, index + i) for i in range(len(types))
        )
    return edges

  def result_types(self, scope: Scope) -> list[int]:
    """The dtype enum of each output tensor."""
    return [
      dtype
      for _, types in op_signature.arg_types(
        self._function.signature.output_arg, scope.attrs
      )
      for dtype in types
    ]

  def control_results(self, scope: Scope) -> list[str]:
    """'^node' for each of the function's control outputs."""
    return [
      '^' + scope.names[name]
      for name in self._function.control_ret.values()
      if name in scope.names
    ]

  @functools.cache  # noqa: B019 - lives as long as a load
  def results_that_must_wait(self) -> frozenset[int]:
    """Outputs that don't need every control output anyway."""
    controls = set(self._function.control_ret.values()) & set(self._nodes)
    waiting = set()
    for k, arg in enumerate(self._function.signature.output_arg):
      root = graph_edges.source(self._function.ret[arg.name])
      needed = graph_edges.reachable(self._nodes, [root])
      if not controls <= needed:
        waiting.add(k)
    return frozenset(waiting)

  def _offsets(self, scope: Scope) -> dict[str, int]:
    """{argument name: index of its first tensor among the call's inputs}."""
    offsets, start = {}, 0
    for name, types in op_signature.arg_types(
      self._function.signature.input_arg, scope.attrs
    ):
      offsets[name] = start
      start += len(types)
    if start != len(scope.inputs):
      raise errors.GraphImportError(
        f'Function {self.name!r} takes {start} tensors; a call gives it '
        f'{len(scope.inputs)}.'
      )
    return offsets

  def _edge(self, edge: str, scope: Scope, starts: Mapping[str, int]) -> str:
    control = edge[0] == '^'
    name, _, rest = edge.lstrip('^').partition(':')
    if name in starts:
      index = starts[name] + (int(rest) if rest.isdigit() else 0)
      source = scope.inputs[index]
      return '^' + graph_edges.source(source) if control else source
    if name not in scope.names:
      raise errors.GraphImportError(
        f'{edge!r} in function {self.name!r} names no node of it.'
      )
    if control:
      return '^' + scope.names[name]
    output, _, index = rest.partition(':')
    first = self._output_starts(name, scope).get(output)
    if first is None:
      if output and not output.isdigit():
        raise errors.GraphImportError(
          f'{edge!r} in function {self.name!r}: {name!r} has no output '
          f'{output!r}.'
        )
      first, index = 0, output
    return graph_edges.tensor(scope.names[name], first + int(index or 0))

  def _output_starts(self, name: str, scope: Scope) -> dict[str, int]:
    """{output name: index of its first tensor} of a node of the body."""
    if name in self._fixed_starts:
      return self._fixed_starts[name]
    node = self._nodes[name]
    definition = op_signature.op_def(node.op, self._signatures)
    if definition is None:
      raise errors.GraphImportError(f'Op type {node.op!r} is not registered.')
    attrs = {
      key: scope.attrs[value.placeholder]
      if value.placeholder and value.placeholder in scope.attrs
      else value
      for key, value in op_signature.with_defaults(node, definition).items()
    }
    starts, start = {}, 0
    for output, types in op_signature.arg_types(definition.output_arg, attrs):
      starts[output] = start
      start += len(types)
    if not any(value.placeholder for value in node.attr.values()):
      self._fixed_starts[name] = starts
    return starts

  def _fill_attrs(self, node: node_def_pb2.NodeDef, scope: Scope) -> None:
    for key in list(node.attr):
      value = node.attr[key]
      if value.placeholder and value.placeholder in scope.attrs:
        node.attr[key].CopyFrom(scope.attrs[value.placeholder])
    if '_class' in node.attr:
      kept = []
      for entry in node.attr['_class'].list.s:
        target = entry.decode('utf-8', 'replace').removeprefix('loc:@')
        if target in scope.names:
          kept.append(f'loc:@{scope.names[target]}'.encode())
      if kept:
        node.attr['_class'].list.s[:] = kept
      else:
        del node.attr['_class']
