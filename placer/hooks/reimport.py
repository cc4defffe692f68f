"""Imports a traced function, with devices, into the graph being traced.

Devices set on a traced function change what it says, not where it runs (DESIGN
§3.5), so its graph is annotated as a proto and imported anew: ordinary calls
inlined (their gradients could not be built from an imported graph), devices in
the bodies of While, If and Case too. What TensorFlow does with a graph that it
traces itself is done by TensorFlow here as well, since the importing function
is traced like any other: captured variables, control outputs, gradients,
signatures, SavedModels.
"""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.eager import context
from tensorflow.python.ops import resource_variable_ops

from placer.core import program as program_lib
from placer.hooks import backward_devices
from placer.hooks import handle_data
from placer.hooks import traced_function
from placer.importers import graph_edges
from placer.importers import inline as inline_lib
from placer.measurers import device_gaps
from placer.rewriters import annotate
from placer.rewriters import function_refs
from placer.rewriters import strip


@dataclasses.dataclass(frozen=True, eq=False)
class InlinedFunction:
  """A traced function without ordinary calls.

  Attributes:
    traced: the function.
    graph_def: just what its outputs and side effects need.
    outputs: the output tensors in it, 'x:0'.
    op_types: {op path in the traced function: op type}, of the main graph.
    program: translates between op paths and names in `graph_def`.
  """

  traced: traced_function.TracedFunction
  graph_def: graph_pb2.GraphDef
  outputs: tuple[str, ...]
  op_types: Mapping[str, str]
  program: program_lib.Program


def inline(traced: traced_function.TracedFunction) -> InlinedFunction:
  """Inlines the calls of a traced function.

  Args:
    traced: the function; not edited.

  Returns:
    The InlinedFunction.

  Raises:
    GraphImportError: a function calls itself without end.
  """
  inlined = inline_lib.inline(traced.graph_def)
  outputs = tuple(
    inlined.resolve(tensor)
    if tensor in inlined.tensors
    else inlined.resolve(tensor.removesuffix(':0'))
    for tensor in traced.outputs
  )
  roots = [graph_edges.source(tensor) for tensor in outputs]
  graph_def = graph_edges.prune(
    inlined.graph_def, [*roots, *traced.control_outputs]
  )
  inputs = set(traced.inputs)
  return InlinedFunction(
    traced,
    graph_def,
    tuple(t if ':' in t else f'{t}:0' for t in outputs),
    {
      inlined.op_paths.get(node.name, node.name): node.op
      for node in graph_def.node
      if node.name not in inputs and node.name not in inlined.made
    },
    program_lib.Program(b'', op_paths=inlined.op_paths),
  )


def with_devices(
  function: InlinedFunction,
  devices: Mapping[str, str] | None,
  resources: Mapping[str, str] | None = None,
) -> graph_pb2.GraphDef:
  """The function's graph with devices on all of its ops.

  Args:
    function: not edited.
    devices: {op path of the traced function: full device name}; ops of the main
      graph that it does not name go with a neighbour. None leaves the devices
      that the user gave.
    resources: {placeholder: where that resource is}. What reads a variable and
      is not in `devices` is there; what reads another resource, of which a
      search may know nothing, is there in any case.

  Returns:
    A GraphDef without the inputs' placeholders.
  """
  graph_def = function.graph_def
  if devices:
    graph_def = _annotated(function, devices, resources or {})
  result = graph_pb2.GraphDef(
    versions=graph_def.versions, library=graph_def.library
  )
  inputs = set(function.traced.inputs)
  result.node.extend(node for node in graph_def.node if node.name not in inputs)
  for node in result.node:
    # Inputs are always there, so that nothing need wait for them.
    waits = [
      edge for edge in node.input if edge[0] != '^' or edge[1:] not in inputs
    ]
    if len(waits) < len(node.input):
      node.input[:] = waits
  _own_function_names(result)
  return result


def _annotated(
  function: InlinedFunction,
  devices: Mapping[str, str],
  resources: Mapping[str, str],
) -> graph_pb2.GraphDef:
  graph_def = strip.strip(function.graph_def)
  placed = _working_names(function, devices)
  for name in function.traced.inputs:
    placed.pop(name, None)
  for node in graph_def.node:
    for edge in node.input:
      if edge in resources and (
        node.name not in placed or edge not in function.traced.variables
      ):
        placed[node.name] = resources[edge]
  default = next(iter(devices.values()))
  device_gaps.fill(graph_def, placed, default, leave=function.traced.inputs)
  graph_def = annotate.annotate(graph_def, placed)
  _drop_classes(graph_def)
  return graph_def


def into_default_graph(
  function: InlinedFunction,
  graph_def: graph_pb2.GraphDef,
  arguments: Sequence[Any],
) -> Any:
  """Imports a function's graph into the FuncGraph that is being traced.

  Args:
    function: whose graph it is.
    graph_def: of `with_devices`.
    arguments: its argument tensors, in the order of `traced.inputs`.

  Returns:
    The function's outputs, with their structure.
  """
  traced = function.traced
  graph = tf.compat.v1.get_default_graph()
  edges = {edge for node in graph_def.node for edge in node.input}
  given = {}
  for name, tensor in zip(
    traced.inputs, (*arguments, *traced.captured), strict=True
  ):
    if name in edges or f'{name}:0' in function.outputs:
      given[f'{name}:0'] = graph.capture(tensor)
  wanted = [name for name in function.outputs if name not in given]
  _register(graph_def)
  before = len(graph.get_operations())
  found = tf.graph_util.import_graph_def(
    graph_def,
    input_map={
      name: tensor
      for name, tensor in given.items()
      if name.removesuffix(':0') in edges
    },
    return_elements=wanted,
    name='',
  )
  made = given | dict(zip(wanted, found, strict=True))
  for variable in traced.accessed:
    resource_variable_ops.variable_accessed(variable)
  operations = graph.get_operations()[before:]
  handle_data.restore(operations)
  backward_devices.keep(operations)
  outputs = [made[name] for name in function.outputs]
  for output, shape in zip(outputs, traced.output_shapes, strict=True):
    output.set_shape(shape)  # an import does not know all of them again
  return traced.function_type.pack_output(outputs)


def _register(graph_def: graph_pb2.GraphDef) -> None:
  """Tells the process of the bodies; importing tells only the graph.

  They stay, as names say what is in them: equal bodies are registered once.
  """
  known = context.context()
  for function in graph_def.library.function:
    if not known.has_function(function.signature.name):
      known.add_function_def(function)


def _working_names(
  function: InlinedFunction, devices: Mapping[str, str]
) -> dict[str, str]:
  """The devices by names in the inlined graph, of the ops that are there."""
  marked = graph_pb2.GraphDef()
  marked.CopyFrom(function.graph_def)
  for nodes in [marked.node] + [f.node_def for f in marked.library.function]:
    for node in nodes:
      node.device = '?'
  known = strip.devices(marked)
  placed = {
    function.program.working_name(path): device
    for path, device in devices.items()
  }
  return {name: placed[name] for name in placed if name in known}


def _drop_classes(graph_def: graph_pb2.GraphDef) -> None:
  """The import would take a node's device from its class, not from the node."""
  for node in graph_def.node:
    if '_class' in node.attr:
      del node.attr['_class']


def _own_function_names(graph_def: graph_pb2.GraphDef) -> None:
  """Renames the bodies: this process has functions of their names, unplaced."""
  functions = {f.signature.name for f in graph_def.library.function}
  if not functions:
    return
  content = graph_def.SerializeToString(deterministic=True)
  suffix = '_placed_' + hashlib.sha256(content).hexdigest()[:12]
  for nodes in [graph_def.node] + [
    f.node_def for f in graph_def.library.function
  ]:
    for node in nodes:
      for label, name in list(function_refs.references(node, functions)):
        function_refs.redirect(node, label, name + suffix)
  for function in graph_def.library.function:
    function.signature.name += suffix
  for gradient in graph_def.library.gradient:
    gradient.function_name += suffix
    gradient.gradient_func += suffix
