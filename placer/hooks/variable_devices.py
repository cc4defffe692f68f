"""Variables and the devices they live on.

An op that reads or writes a variable runs where the variable is, whatever was
asked (DESIGN §3.1). So either the variables stay, and a search is held to
that; or they are moved to where the placement wants them.

Moving a variable gives the same Python object another resource with the same
value. Functions that TensorFlow traced before hold the old resource: they would
go on with a copy that nobody updates. So the old resource is left with an empty
value of another rank, and such a function fails instead.
"""

from collections.abc import Mapping, Sequence

import tensorflow as tf
from tensorflow.core.framework import graph_pb2

from placer.core import device as device_lib
from placer.core import errors
from placer.hooks import traced_function


def current(
  traced: traced_function.TracedFunction,
  arguments: Sequence[tf.Tensor] | None = None,
) -> dict[str, str]:
  """Where the resources of a function are.

  Args:
    traced: the function.
    arguments: its arguments' tensors, for the handles among them; None where
      they are not known.

  Returns:
    {placeholder: full device name}, of captured and passed resources.
  """
  first = len(traced.inputs) - len(traced.captured)
  known = [
    *zip(traced.inputs[first:], traced.captured, strict=True),
    *zip(traced.inputs, arguments or ()),
  ]
  return {
    name: device_lib.canonical(tensor.device)
    for name, tensor in known
    if tensor.dtype == tf.resource and tensor.device
  }


def pinned(
  traced: traced_function.TracedFunction,
  topology: device_lib.DeviceTopology,
  arguments: Sequence[tf.Tensor] | None = None,
  *,
  move_variables: bool,
) -> dict[str, int]:
  """Which resources a search may not move.

  Args:
    traced: the function.
    topology: the devices.
    arguments: as of `current`.
    move_variables: whether captured variables may be moved afterwards; passed
      ones, and other resources (tables), never are.

  Returns:
    {placeholder: index of its device}.

  Raises:
    UsageError: a resource is on none of the devices.
  """
  found = {}
  for name, device in current(traced, arguments).items():
    if move_variables and name in traced.variables:
      continue
    if device not in topology.names:
      raise errors.UsageError(
        f'{_what(traced, name)} is on {device}, which is none of the devices '
        f'of devices={topology.spec!r} ({", ".join(topology.names)}), and what '
        'reads it runs where it is. Add that device, create it under '
        'tf.device(...) of one of them, or pass move_variables=True.'
      )
    found[name] = topology.names.index(device)
  return found


def misplaced(
  traced: traced_function.TracedFunction, graph_def: graph_pb2.GraphDef
) -> dict[str, str]:
  """The resources that a placed graph wants elsewhere.

  Args:
    traced: the function.
    graph_def: its graph with devices.

  Returns:
    {placeholder: the device of the ops that read it}, where it is another than
    its own.
  """
  where = current(traced)
  found: dict[str, str] = {}
  for node in graph_def.node:
    for edge in node.input:
      if node.device and where.get(edge, node.device) != node.device:
        found.setdefault(edge, node.device)
  return found


def refuse(
  traced: traced_function.TracedFunction, wanted: Mapping[str, str]
) -> None:
  """Refuses a placement that wants variables on other devices.

  Args:
    traced: the function.
    wanted: of `misplaced`.

  Raises:
    UsageError: there are some; the reason and the cure.
  """
  if not wanted:
    return
  where = current(traced)
  some = '; '.join(
    f'{_what(traced, name)} is on {where[name]}, the placement has it on '
    f'{device}'
    for name, device in list(wanted.items())[:3]
  )
  more = f'; and {len(wanted) - 3} more' if len(wanted) > 3 else ''
  raise errors.UsageError(
    f'The placement of {traced.name} needs {len(wanted)} variables on other '
    f'devices: {some}{more}. What reads a variable runs where the variable is, '
    'so the placement would not hold. Create them under tf.device(...), or '
    'pass move_variables=True: they then move with their values, and '
    'tf.functions that were traced before must be traced again.'
  )


def move(
  traced: traced_function.TracedFunction, wanted: Mapping[str, str]
) -> int:
  """Moves variables, values kept.

  Args:
    traced: the function; what it captured is stale afterwards, so it must be
      traced again.
    wanted: of `misplaced`.

  Returns:
    How many were moved.

  Raises:
    UsageError: something else than a plain variable would have to be moved.
  """
  fixed = {
    name: to for name, to in wanted.items() if not _movable(traced, name)
  }
  refuse(traced, fixed)
  with tf.init_scope():
    for name, device in wanted.items():
      _move(traced.variables[name], device)
  return len(wanted)


def _movable(traced: traced_function.TracedFunction, name: str) -> bool:
  variable = traced.variables.get(name)
  return variable is not None and hasattr(variable.handle, 'numpy')


def _move(variable: tf.Variable, device: str) -> None:
  old = variable.handle
  with tf.device(device):
    copy = tf.Variable(
      variable.read_value(),
      trainable=variable.trainable,
      dtype=variable.dtype,
      shape=variable.shape,
    )
  variable._handle = copy.handle
  dims = [0] * (1 if variable.shape.rank != 1 else 2)
  with tf.device(old.device):
    tf.raw_ops.AssignVariableOp(
      resource=old, value=tf.zeros(dims, variable.dtype)
    )


def _what(traced: traced_function.TracedFunction, name: str) -> str:
  variable = traced.variables.get(name)
  if variable is None:
    return f'The resource {name!r}'
  return f'Variable {variable.name!r}'
