"""Backward ops with their forward op.

TensorFlow builds the gradient of a function from its graph, op by op, and
gives the backward ops no device (DESIGN §3.6). The functions that build them
are wrapped here: what the gradient function of a placed op makes has that op's
device, as has the sum of the gradients that reach the op; the made ops are
wrapped in turn, so that second derivatives follow, too. The sum of the
gradients of an *input* that several ops read belongs to no forward op and
stays where TensorFlow puts it.

The wrappers live in this process' graphs and not in protos: a SavedModel of
the function has none, and its gradients after loading have no devices.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_util_v2
from tensorflow.python.ops import handle_data_util

from placer.hooks import handle_data

# Where TensorFlow looks for the graph of a body: {attribute of the node:
# attribute of the Python op}.
_LOOPS = {'cond': '_cond_graph', 'body': '_body_graph'}
_BRANCHES = {'then_branch': '_true_graph', 'else_branch': '_false_graph'}


def keep(operations: Iterable[tf.Operation]) -> None:
  """Makes the gradients of placed ops be built on their devices.

  Args:
    operations: ops of a graph whose gradient was not built yet; those without
      a device, without a gradient, or wrapped already are left alone.
  """
  for operation in operations:
    if not operation.device or _wrapped(operation):
      continue
    try:
      gradient = ops.get_gradient_function(operation)
    except LookupError:
      continue
    if gradient is not None:
      operation._gradient_function = _on_device(gradient, operation.device)


def _wrapped(operation: tf.Operation) -> bool:
  return operation._gradient_function is not None


def _on_device(gradient: Any, device: str) -> Any:
  """The gradient function, all that it makes on a device."""

  def on_device(operation: tf.Operation, *incoming: Any) -> Any:
    graph = tf.compat.v1.get_default_graph()
    for made in _operations(incoming):
      # The sum of several gradients, or zeros in place of none.
      if made.graph is graph and not made.device and made.inputs:
        made._set_device(device)
    _keep_in_bodies(operation)
    with tf.device(device):
      outgoing = gradient(operation, *incoming)
    keep(_made(graph, outgoing, incoming))
    return outgoing

  return on_device


def _operations(gradients: Any) -> Iterator[tf.Operation]:
  """The ops that made the tensors among gradients."""
  for gradient in (
    gradients if isinstance(gradients, (list, tuple)) else [gradients]
  ):
    if isinstance(gradient, (tf.Tensor, tf.IndexedSlices)):
      for part in tf.nest.flatten(gradient, expand_composites=True):
        if hasattr(part, 'op'):
          yield part.op


def _made(graph: tf.Graph, outgoing: Any, incoming: Any) -> list[tf.Operation]:
  """The ops of `graph` between the gradients that came in and go out."""
  seen = set(_operations(incoming))
  stack = list(_operations(outgoing))
  made = []
  while stack:
    operation = stack.pop()
    if operation in seen or operation.graph is not graph or _wrapped(operation):
      continue
    seen.add(operation)
    made.append(operation)
    stack.extend(tensor.op for tensor in operation.inputs)
  return made


def _keep_in_bodies(operation: tf.Operation) -> None:
  """Does the same for the ops in the bodies of a While or If.

  TensorFlow makes graphs of them when it builds their gradient; made before,
  they are found where it looks first.
  """
  operation = operation.outputs[0].op if operation.outputs else operation
  attributes = operation.node_def.attr
  if 'body' in attributes and 'cond' in attributes:
    shapes = [
      tf.TensorShape(shape) for shape in operation.get_attr('output_shapes')
    ]
    bodies = {
      python_name: operation.get_attr(attribute).name
      for attribute, python_name in _LOOPS.items()
    }
  elif 'then_branch' in attributes or 'branches' in attributes:
    shapes = [tensor.shape for tensor in operation.inputs[1:]]
    bodies = {
      python_name: operation.get_attr(attribute).name
      for attribute, python_name in _BRANCHES.items()
      if attribute in attributes
    }
    if 'branches' in attributes:
      bodies |= {
        f'_branch_graph_{i}': branch.name
        for i, branch in enumerate(operation.get_attr('branches'))
      }
  else:
    return
  for python_name, function in bodies.items():
    if getattr(operation, python_name, None) is None:
      graph = control_flow_util_v2.get_func_graph(operation, shapes, function)
      for outer, inner in zip(
        operation.inputs[-len(graph.inputs) :], graph.inputs
      ):
        handle_data_util.copy_handle_data(outer, inner)
      handle_data.restore(graph.get_operations())
      keep(graph.get_operations())
      setattr(operation, python_name, graph)
