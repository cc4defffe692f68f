"""TracedFunction -> the graph of a step that can be run in other processes.

A traced function holds handles of this process' variables, which no other
process can read. So in the step's graph

  - the placeholder of a variable's handle is a VarHandleOp of that name. A
    small variable (a counter, the state of a random generator) starts with the
    value it has here; a large one with a made value of the same shape, so that
    no weights are copied into a graph and no proto nears its limit of 2 GiB;
  - a lookup table is a table of that name with the same entries;
  - other captured tensors and the arguments are feeds;
  - the slots of an optimizer are tied to their variables;
  - assertions check nothing, since they would check made values, and what only
    writes files (summaries) computes its inputs and writes nothing.

Op paths are those of the traced function, so a placement of the step's graph
is one of the function.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import errors
from placer.hooks import lookup_tables
from placer.hooks import optimizer_slots
from placer.hooks import traced_function
from placer.importers import base
from placer.importers import inline as inline_lib
from placer.importers import op_signature
from placer.importers import prepare
from placer.importers import setup_ops
from placer.measurers import side_effects

# A variable of at most so many bytes starts with its value.
_SMALL_BYTES = 4096
# What has no effect but to check, or to make a writer of files write.
_LEFT_OUT = frozenset(('Assert', 'FlushSummaryWriter', 'CloseSummaryWriter'))


@dataclasses.dataclass(frozen=True, eq=False)
class StepGraph:
  """A traced function, ready to be searched; see the module docstring.

  Attributes:
    imported: the graph, with op paths of the traced function.
    feed_values: {feed: its value}, or None where the arguments have no values
      (they were specs), so that values are made.
  """

  imported: base.ImportedGraph
  feed_values: Mapping[str, np.ndarray] | None


def build(
  traced: traced_function.TracedFunction,
  arguments: Sequence[tf.Tensor] | None = None,
) -> StepGraph:
  """Makes the step's graph.

  Args:
    traced: the function.
    arguments: the values of its arguments, in the order of `traced.inputs`;
      None where they are not known.

  Returns:
    The StepGraph.

  Raises:
    UsageError: the function takes or captures something that another process
      cannot be given.
    GraphImportError: the graph cannot be run.
  """
  graph_def = graph_pb2.GraphDef()
  graph_def.CopyFrom(traced.graph_def)
  initializers: dict[str, str] = {}
  placeholders = {node.name: node for node in graph_def.node}
  captured = dict(
    zip(traced.inputs[-len(traced.captured) :], traced.captured, strict=True)
    if traced.captured
    else ()
  )
  for name in traced.resources:
    _own_resource(graph_def, placeholders[name], traced, captured, initializers)
  _without_side_effects(graph_def, traced.resources)
  _tie_slots(graph_def, traced)
  values = _values(traced, arguments, captured)
  imported = prepare.prepare(
    prepare.Source(
      traced.name,
      'graph_def',
      traced.graph_def,
      graph_def,
      fetches=(*traced.outputs, *traced.control_outputs),
      setup=setup_ops.SetupSource(initializers=initializers),
    ),
    base.ImportOptions(
      input_shapes={name: value.shape for name, value in values.items()}
    ),
  )
  _refuse_opaque(traced.name, imported)
  fed = {feed.tensor.removesuffix(':0') for feed in imported.program.feeds}
  return StepGraph(
    imported,
    {name: values[name] for name in fed} if fed <= values.keys() else None,
  )


def _own_resource(
  graph_def: graph_pb2.GraphDef,
  node: node_def_pb2.NodeDef,
  traced: traced_function.TracedFunction,
  captured: Mapping[str, tf.Tensor],
  initializers: dict[str, str],
) -> None:
  """Makes the placeholder of a resource an op that makes such a resource."""
  handle_data = traced.resources[node.name]
  if handle_data is not None and handle_data.is_set:
    _own_variable(node, handle_data.shape_and_type[0])
    variable = traced.variables.get(node.name)
    if variable is not None and _is_small(variable):
      initializers[node.name] = _assign(graph_def, node, variable.numpy())
    return
  if node.name in captured:
    lookup_tables.replace(graph_def, node, captured[node.name])


def _refuse_opaque(name: str, imported: base.ImportedGraph) -> None:
  """Refuses a step that needs what no other process can be given."""
  for feed in imported.program.feeds:
    if feed.dtype in ('resource', 'variant'):
      node = feed.tensor.removesuffix(':0')
      readers = sorted(
        {
          reader.op
          for reader in imported.graph_def.node
          if node in reader.input
        }
      )
      raise errors.UsageError(
        f'{name} uses a {feed.dtype} ({node!r}, read by {", ".join(readers)}) '
        'that cannot be made in the processes that measure. Pass placement= '
        'with a placement that was found otherwise, or keep datasets, '
        'iterators, queues and the like outside of the function.'
      )


def _own_variable(node: node_def_pb2.NodeDef, shape_and_type) -> None:
  name = node.name
  node.Clear()
  node.name, node.op = name, 'VarHandleOp'
  node.attr['dtype'].type = shape_and_type.dtype
  node.attr['shape'].shape.CopyFrom(shape_and_type.shape)
  node.attr['shared_name'].s = name.encode()
  node.attr['container'].s = b''


def _is_small(variable: tf.Variable) -> bool:
  """Whether a variable's value is to be copied; in a graph it has none."""
  shape = variable.shape
  if not hasattr(variable.handle, 'numpy'):
    return False
  if not shape.is_fully_defined():
    return True  # only the value tells the shape
  return shape.num_elements() * variable.dtype.size <= _SMALL_BYTES


def _assign(
  graph_def: graph_pb2.GraphDef, node: node_def_pb2.NodeDef, value: np.ndarray
) -> str:
  """Adds an op that gives a variable its value; returns its name."""
  prefix = setup_ops.PREFIX + node.name
  constant = graph_def.node.add(name=prefix + '/value', op='Const')
  constant.attr['dtype'].type = node.attr['dtype'].type
  constant.attr['value'].tensor.CopyFrom(
    tf.make_tensor_proto(value, dtype=node.attr['dtype'].type)
  )
  assign = graph_def.node.add(name=prefix + '/assign', op='AssignVariableOp')
  assign.input.extend([node.name, constant.name])
  assign.attr['dtype'].type = node.attr['dtype'].type
  return assign.name


def _tie_slots(
  graph_def: graph_pb2.GraphDef, traced: traced_function.TracedFunction
) -> None:
  """Keeps optimizers' slots with their variables, if they are together now."""
  inlined = inline_lib.inline(graph_def).graph_def
  slots = optimizer_slots.find(inlined, traced.variables)
  for node in graph_def.node:
    variable = slots.get(node.name)
    if variable is not None and (
      traced.variables[node.name].device == traced.variables[variable].device
    ):
      node.attr['_class'].list.s.append(f'loc:@{variable}'.encode())


def _without_side_effects(
  graph_def: graph_pb2.GraphDef, resources: Collection[str]
) -> None:
  """Ops that only check or write become NoOps that wait for their inputs."""
  bodies = [graph_def.node] + [f.node_def for f in graph_def.library.function]
  for nodes in bodies:
    in_body = nodes is not bodies[0]
    for node in nodes:
      if node.op in _LEFT_OUT or (
        node.op in side_effects.OP_TYPES and not _has_outputs(node.op)
      ):
        edges = [edge for edge in node.input if not _is_argument(edge, in_body)]
        names = [edge.removeprefix('^').partition(':')[0] for edge in edges]
        waits = dict.fromkeys('^' + n for n in names if n not in resources)
        name = node.name
        node.Clear()
        node.name, node.op = name, 'NoOp'
        node.input.extend(waits)


def _is_argument(edge: str, in_body: bool) -> bool:
  """Whether an input of a node in a body is an argument of the function."""
  return in_body and edge[0] != '^' and ':' not in edge


def _has_outputs(op: str) -> bool:
  definition = op_signature.op_def(op)
  return definition is None or bool(definition.output_arg)


def _values(
  traced: traced_function.TracedFunction,
  arguments: Sequence[tf.Tensor] | None,
  captured: Mapping[str, tf.Tensor],
) -> dict[str, np.ndarray]:
  """{placeholder: its value}, of those that have one here."""
  # TensorFlow makes constants of small captured tensors.
  placeholders = {
    node.name for node in traced.graph_def.node if node.op == 'Placeholder'
  }
  tensors = dict(captured)
  if arguments is not None:
    tensors |= dict(zip(traced.inputs, arguments))
  return {
    name: tensor.numpy()
    for name, tensor in tensors.items()
    if name in placeholders
    and tf.is_tensor(tensor)
    and hasattr(tensor, 'numpy')
    and tensor.dtype not in (tf.resource, tf.variant)
  }
