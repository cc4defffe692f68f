"""TracedFunction: what tf.function makes of a Python function, as a graph.

The trace is private to placer: TensorFlow edits a graph in place when it
differentiates it, so one that is run or differentiated is no record of what
was traced.

  name: the function's name, for messages.
  graph_def: the graph. Each input is a Placeholder; those of captured tensors
    have names that do not vary from trace to trace ('captured_3').
  inputs: names of the placeholders, the arguments' tensors before the captured
    ones.
  captured: the captured tensors, in the order of the last `inputs`.
  outputs: the output tensors, 'x:0', composites flattened.
  output_shapes: their static shapes.
  control_outputs: names of the ops that run for their side effects.
  variables: {name of a placeholder: the captured tf.Variable}.
  accessed: every variable that the function reads or writes.
  resources: {name of a placeholder: its handle data} of resource inputs; None
    where TensorFlow does not know what the resource is.
  function_type: binds arguments to `inputs` and packs `outputs`.
  default_values: {parameter: its default}.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.eager.polymorphic_function import function_type_utils
from tensorflow.python.ops import handle_data_util

from placer.core import errors

_JIT = '_XlaMustCompile'


@dataclasses.dataclass(frozen=True, eq=False)
class TracedFunction:
  """A traced function; see the module docstring."""

  name: str
  graph_def: graph_pb2.GraphDef
  inputs: tuple[str, ...]
  captured: tuple[Any, ...]
  outputs: tuple[str, ...]
  output_shapes: tuple[tf.TensorShape, ...]
  control_outputs: tuple[str, ...]
  variables: Mapping[str, tf.Variable]
  accessed: tuple[tf.Variable, ...]
  resources: Mapping[str, Any]
  function_type: Any
  default_values: Mapping[str, Any]

  def flat_inputs(
    self, args: Sequence[Any], kwargs: Mapping[str, Any]
  ) -> list[Any]:
    """The tensors of the arguments, in the order of the first `inputs`."""
    bound = function_type_utils.canonicalize_function_inputs(
      args, kwargs, self.function_type, self.default_values
    )
    return list(self.function_type.unpack_inputs(bound))

  def fits(self, tensors: Sequence[Any]) -> bool:
    """Whether these can be the tensors of the arguments."""
    nodes = {node.name: node for node in self.graph_def.node}
    arguments = self.inputs[: len(self.inputs) - len(self.captured)]
    return len(tensors) == len(arguments) and all(
      tf.is_tensor(tensor)
      and tensor.dtype.as_datatype_enum == nodes[name].attr['dtype'].type
      for tensor, name in zip(tensors, arguments, strict=True)
    )

  @property
  def jitted(self) -> tuple[str, ...]:
    """Names of functions of the graph that are marked jit_compile."""
    return tuple(
      function.signature.name
      for function in self.graph_def.library.function
      if _JIT in function.attr and function.attr[_JIT].b
    )


def polymorphic(function: Callable[..., Any]) -> tf.types.experimental.Callable:
  """A tf.function of one's own for what the user gave.

  Args:
    function: a Python function or method, a tf.function, a ConcreteFunction, a
      function of a loaded SavedModel, or an object that can be called.

  Returns:
    A tf.function that nobody else traces, with the same options.

  Raises:
    UsageError: it cannot be called.
  """
  if not callable(function):
    raise errors.UsageError(
      f'{type(function).__name__} object {function!r:.80} cannot be called. '
      'Pass a function, a tf.function, a Keras model or another callable.'
    )
  clone = getattr(function, '_clone', None)
  if isinstance(function, type(tf.function(lambda: None))) and clone:
    if hasattr(function, 'concrete_functions'):  # of a loaded SavedModel
      return tf.function(lambda *args, **kwargs: function(*args, **kwargs))
    return clone(None)
  if isinstance(function, tf.types.experimental.ConcreteFunction):
    return tf.function(lambda *args, **kwargs: function(*args, **kwargs))
  return tf.function(function)


def name_of(function: Callable[..., Any]) -> str:
  """What to call a function in messages, file names and folders."""
  name = getattr(function, '__name__', None) or getattr(function, 'name', None)
  return name if isinstance(name, str) and name else type(function).__name__


def trace(
  function: tf.types.experimental.Callable,
  args: Sequence[Any],
  kwargs: Mapping[str, Any],
  name: str,
) -> TracedFunction:
  """Traces a function for arguments.

  Args:
    function: of `polymorphic`.
    args: positional arguments: tensors, specs, Python values.
    kwargs: keyword arguments.
    name: for messages.

  Returns:
    The TracedFunction.

  Raises:
    UsageError: a tf.distribute strategy is in use, or the function captures
      what only a call can tell.
  """
  _refuse_strategy(name)
  concrete = function.get_concrete_function(*args, **kwargs)
  graph = concrete.graph
  _refuse_distributed(graph.variables, name)
  if graph.function_captures.by_ref_external:
    raise errors.UsageError(
      f'{name} captures values that are looked up anew in each call, which '
      'a re-imported graph cannot do. Pass them as arguments.'
    )
  captured = tuple(concrete.captured_inputs)
  names = [tensor.op.name for tensor in graph.inputs]
  renamed = _stable_names(names, len(names) - len(captured))
  graph_def = graph.as_graph_def()
  _rename(graph_def, renamed)
  inputs = tuple(renamed.get(name, name) for name in names)
  return TracedFunction(
    name=name,
    graph_def=graph_def,
    inputs=inputs,
    captured=captured,
    outputs=tuple(_renamed_tensor(t.name, renamed) for t in graph.outputs),
    output_shapes=tuple(tensor.shape for tensor in graph.outputs),
    control_outputs=tuple(op.name for op in graph.control_outputs),
    variables=_variables(graph.variables, inputs[-len(captured) :], captured)
    if captured
    else {},
    accessed=tuple(graph.variables),
    resources={
      name: handle_data_util.get_resource_handle_data(tensor)
      for name, tensor in zip(inputs, graph.inputs, strict=True)
      if tensor.dtype == tf.resource
    },
    function_type=concrete.function_type,
    default_values=function.function_spec.default_values or {},
  )


def _refuse_strategy(name: str) -> None:
  if tf.distribute.has_strategy():
    strategy = type(tf.distribute.get_strategy()).__name__
    raise errors.UsageError(
      f'{name} is used in the scope of a tf.distribute {strategy}, which '
      'copies the function to devices of its own choice; a placement of '
      'single ops cannot hold there. Use one or the other: place the function '
      'outside of strategy.scope(), or leave it unplaced.'
    )


def _refuse_distributed(variables: Sequence[Any], name: str) -> None:
  for variable in variables:
    if getattr(variable, '_distribute_strategy', None) is not None:
      raise errors.UsageError(
        f'{name} uses {variable.name!r}, a variable of a tf.distribute '
        'strategy, which has a copy on each of its devices. Make the variables '
        'of a placed function outside of strategy.scope().'
      )


def _stable_names(names: Sequence[str], arguments: int) -> dict[str, str]:
  """{a captured tensor's name that varies with each trace: one that doesn't}.

  TensorFlow calls some captured tensors by a number that counts up over the
  life of the process.
  """
  return {
    name: f'captured_{i}'
    for i, name in enumerate(names[arguments:])
    if name.isdigit()
  }


def _rename(graph_def: graph_pb2.GraphDef, renamed: Mapping[str, str]) -> None:
  if not renamed:
    return
  for node in graph_def.node:
    node.name = renamed.get(node.name, node.name)
    for i, edge in enumerate(node.input):
      mark = '^' if edge[0] == '^' else ''
      head, colon, index = edge.removeprefix('^').partition(':')
      if head in renamed:
        node.input[i] = mark + renamed[head] + colon + index


def _renamed_tensor(name: str, renamed: Mapping[str, str]) -> str:
  head, _, index = name.partition(':')
  return f'{renamed.get(head, head)}:{index}'


def _variables(
  accessed: Sequence[tf.Variable],
  names: Sequence[str],
  captured: Sequence[Any],
) -> dict[str, tf.Variable]:
  by_handle = {id(variable.handle): variable for variable in accessed}
  return {
    name: by_handle[id(tensor)]
    for name, tensor in zip(names, captured, strict=True)
    if id(tensor) in by_handle
  }
