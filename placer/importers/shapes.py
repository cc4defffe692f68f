"""Imports a graph into TensorFlow, and reads types and shapes back.

The import is the check that this TensorFlow takes the graph; no device is
touched (DESIGN §3.16). Bodies of functional While, If and Case get the shapes
of what their node is given.
"""

import re
from collections.abc import Iterable, Sequence

import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import errors_impl
from tensorflow.python.framework import function_def_to_graph

from placer.core import errors
from placer.core import op_path
from placer.rewriters import function_refs

_NESTED = re.compile(r'\{\{[^{}]*\}\}')
_OPS_WITH_BODIES = frozenset((
    'While', 'StatelessWhile', 'If', 'StatelessIf', 'Case', 'StatelessCase',
    'PartitionedCall', 'StatefulPartitionedCall',
))  # fmt: skip


def infer(
  graph_def: graph_pb2.GraphDef, source: str
) -> dict[str, tuple[tuple[int, tuple[int, ...] | None], ...]]:
  """Types and shapes of all outputs of a graph.

  Args:
    graph_def: a working graph.
    source: the path, for messages.

  Returns:
    {working name: ((dtype enum, shape or None), ...)}, bodies included; see
    `base.ImportedGraph.outputs`.

  Raises:
    GraphImportError: TensorFlow does not take the graph; with its reason.
  """
  graph = tf.Graph()
  with graph.as_default():
    try:
      tf.graph_util.import_graph_def(graph_def, name='')
    except (ValueError, TypeError, errors_impl.OpError, KeyError) as error:
      raise errors.GraphImportError(
        f'TensorFlow {tf.__version__} does not take the graph of {source!r}: '
        f'{_sentence(error)}'
      ) from error
    outputs = {op.name: _described(op.outputs) for op in graph.get_operations()}
    functions = {f.signature.name: f for f in graph_def.library.function}
    for node in graph_def.node if functions else ():
      if node.op in _OPS_WITH_BODIES:
        given = graph.get_operation_by_name(node.name).inputs
        _bodies(node, node.name, given, functions, outputs, ())
  return outputs


def _bodies(node, path, given, functions, outputs, active) -> None:
  for label, name in function_refs.references(node, functions):
    if name in active:
      continue
    # The predicate of If and the index of Case are no arguments of branches.
    skip = 1 if node.op in ('If', 'StatelessIf', 'Case', 'StatelessCase') else 0
    shapes = [tensor.shape for tensor in list(given)[skip:]]
    function = functions[name]
    if len(shapes) != len(function.signature.input_arg):
      shapes = None
    try:
      body = function_def_to_graph.function_def_to_graph(
        function, input_shapes=shapes, include_library_functions=True
      )
    except (ValueError, errors_impl.OpError):
      continue  # its shapes stay unknown; TensorFlow took the graph as a whole
    prefix = op_path.enter(path, label)
    for op in body.get_operations():
      outputs[prefix + op.name] = _described(op.outputs)
    for inner in function.node_def:
      if inner.op in _OPS_WITH_BODIES:
        _bodies(
          inner,
          prefix + inner.name,
          body.get_operation_by_name(inner.name).inputs,
          functions,
          outputs,
          active + (name,),
        )


def _described(
  tensors: Sequence[tf.Tensor],
) -> tuple[tuple[int, tuple[int, ...] | None], ...]:
  return tuple(
    (tensor.dtype.as_datatype_enum, _dims(tensor.shape)) for tensor in tensors
  )


def _dims(shape: tf.TensorShape) -> tuple[int, ...] | None:
  if shape.rank is None:
    return None
  return tuple(-1 if size is None else size for size in shape.as_list())


def _sentence(error: Exception) -> str:
  text = _NESTED.sub('', str(error)).strip() or type(error).__name__
  return ' '.join(text.split())


def load_op_libraries(files: Iterable[str]) -> None:
  """Loads libraries with custom ops into this process.

  Args:
    files: paths of shared libraries.

  Raises:
    UsageError: a file cannot be loaded.
  """
  for file in files:
    try:
      tf.load_op_library(file)
    except (errors_impl.OpError, OSError, RuntimeError) as error:
      raise errors.UsageError(
        f'--op_library={file} cannot be loaded: {_sentence(error)}'
      ) from error
