"""Which device types have a kernel for an op, and why not.

The kernel registry of the full TensorFlow wheel lists GPU kernels with their
type constraints also on a host without a GPU (DESIGN §3.7). A 'DEFAULT' kernel
fits any device. Registered is not the same as runs: what fails in a
measurement is learnt there.
"""

import functools
from collections.abc import Iterator, Sequence

import numpy as np
from tensorflow.core.framework import kernel_def_pb2
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import dtypes
from tensorflow.python.framework import kernels

from placer.importers import fetches
from placer.importers import op_signature
from placer.problems import flat_graph
from placer.problems import op_graphs

_ANY = 'DEFAULT'
_REFERENCE = 100
# TensorFlow turns these into other ops before kernels are looked up.
_LOWERED = flat_graph.LOOPS | flat_graph.BRANCHES | flat_graph.CALLS
_TENSOR_LISTS = ('TensorList', 'EmptyTensorList', 'TensorMap', 'EmptyTensorMap')


@functools.cache
def _registry() -> dict[str, dict[str, list[kernel_def_pb2.KernelDef]]]:
  """op type -> device type -> kernels."""
  table: dict[str, dict[str, list[kernel_def_pb2.KernelDef]]] = {}
  for kernel in kernels.get_all_registered_kernels().kernel:
    by_device = table.setdefault(kernel.op, {})
    by_device.setdefault(kernel.device_type, []).append(kernel)
  return table


def kernel(
  node: node_def_pb2.NodeDef, device_type: str
) -> kernel_def_pb2.KernelDef | None:
  """The kernel that runs `node` on a device type, or None.

  Args:
    node: an op with its type attributes.
    device_type: 'CPU', 'GPU'.

  Returns:
    The first registered kernel whose constraints the node meets.
  """
  by_device = _registry().get(node.op, {})
  label = node.attr['_kernel'].s.decode() if '_kernel' in node.attr else ''
  definition = op_signature.op_def(node.op)
  attrs = (
    op_signature.with_defaults(node, definition) if definition else node.attr
  )
  for device in (device_type, _ANY):
    for candidate in by_device.get(device, ()):
      if candidate.label == label and _fits(candidate, attrs):
        return candidate
  return None


def host_memory_args(
  node: node_def_pb2.NodeDef, device_type: str
) -> tuple[str, ...]:
  """Names of the inputs and outputs that stay in host memory on a device."""
  found = kernel(node, device_type)
  return tuple(found.host_memory_arg) if found else ()


def _fits(
  candidate: kernel_def_pb2.KernelDef, attrs: op_signature.Attrs
) -> bool:
  for constraint in candidate.constraint:
    if constraint.name not in attrs:
      return False
    value = attrs[constraint.name]
    allowed = constraint.allowed_values.list
    if value.WhichOneof('value') == 's':
      if value.s not in allowed.s:
        return False
      continue
    types = list(value.list.type) if value.HasField('list') else [value.type]
    # A reference kernel is registered for the base type.
    if any(
      t not in allowed.type and t - _REFERENCE not in allowed.type
      for t in types
    ):
      return False
  return True


class DeviceSupport:
  """Which device types each op of a graph may use.

  Attributes:
    device_types: the distinct types of the devices, in order.
    supported: bool `[N, len(device_types)]`.
  """

  def __init__(
    self, built: op_graphs.Built, device_types: Sequence[str]
  ) -> None:
    """Looks every op up.

    Args:
      built: the graph, N ops.
      device_types: e.g. ('CPU', 'GPU').
    """
    self._built = built
    self.device_types = tuple(device_types)
    self._reasons: dict[tuple[int, str], str] = {}
    self.supported = np.ones((len(built.nodes), len(device_types)), bool)
    cache: dict[bytes, list[str]] = {}
    host_only = _host_only(built)
    for i, node in enumerate(built.nodes):
      key = _key(node)
      if key not in cache:
        cache[key] = [self._why_not(node, kind) for kind in device_types]
      for column, reason in enumerate(cache[key]):
        if not reason and host_only[i] and device_types[column] != 'CPU':
          reason = f'{node.op} handles data that lives in host memory only'
        if reason:
          self.supported[i, column] = False
          self._reasons[i, device_types[column]] = reason

  def reason(self, op: int) -> str:
    """Why op `op` may not use some device type; '' if it may use all."""
    found = [
      self._reasons[op, kind]
      for kind in self.device_types
      if (op, kind) in self._reasons
    ]
    name = self._built.graph.names[op]
    return f'{name!r}: {"; ".join(found)}' if found else ''

  def _why_not(self, node: node_def_pb2.NodeDef, device_type: str) -> str:
    if node.op in fetches.PLACEHOLDERS and 'CPU' in self.device_types:
      # A measured step reads its inputs from variables on their device; int32
      # and strings have none on a GPU. Where there is no CPU nothing is run.
      node = node_def_pb2.NodeDef(op='VarHandleOp', attr=node.attr)
    if node.op in _LOWERED or kernel(node, device_type) is not None:
      return ''
    types = ', '.join(
      f'{name}={dtypes.as_dtype(value.type).name}'
      for name, value in sorted(node.attr.items())
      if value.WhichOneof('value') == 'type' and value.type
    )
    return f'no {device_type} kernel for {node.op}({types})'


def _key(node: node_def_pb2.NodeDef) -> bytes:
  """Equal for nodes that the registry cannot tell apart."""
  parts = [node.op]
  for name in sorted(node.attr):
    value = node.attr[name]
    kind = value.WhichOneof('value')
    if kind == 'type':
      parts.append(f'{name}={value.type}')
    elif kind == 'list' and value.list.type:
      parts.append(f'{name}={sorted(set(value.list.type))}')
    elif kind == 's' and len(value.s) < 64:
      parts.append(f'{name}={value.s!r}')
  return '|'.join(parts).encode()


def _host_only(built: op_graphs.Built) -> np.ndarray:
  """bool `[N]`: ops that touch strings, or variants other than TensorLists."""
  result = np.zeros(len(built.nodes), bool)
  graph = built.graph
  for tensor in _opaque_tensors(built):
    result[graph.tensor_source[tensor]] = True
  opaque = np.zeros(len(graph.tensor_bytes) + 1, bool)
  opaque[list(_opaque_tensors(built))] = True
  data = graph.edge_tensor >= 0
  readers = graph.edge_target[data & opaque[graph.edge_tensor]]
  result[readers] = True
  return result


def _opaque_tensors(built: op_graphs.Built) -> Iterator[int]:
  for tensor in np.flatnonzero(
    np.isin(built.tensor_dtype, (types_pb2.DT_STRING, types_pb2.DT_VARIANT))
  ):
    source = int(built.graph.tensor_source[tensor])
    if built.tensor_dtype[tensor] == types_pb2.DT_VARIANT and built.graph.types[
      source
    ].startswith(_TENSOR_LISTS):
      continue
    yield int(tensor)
