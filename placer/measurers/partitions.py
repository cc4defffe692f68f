"""Partitions: what TensorFlow really ran, and where (DESIGN §3.2).

`ReadBack`:
  actual_devices: {working name: full device name} of the requested ops that
    are in the executed partitions.
  removed_ops: number of requested ops that are not. Ops in a body that
    TensorFlow ran as one kernel, unseen, are not counted.
  moved_ops: working names of ops that ran elsewhere than requested.
  partition_hash: hash of names, ops, devices and inputs of all partitions.
  peak_memory_bytes: {full device name: bytes}.
  peak_memory_source: how they were found (`peak_memory.py`).

TensorFlow inlines ('lowers') the bodies of While, If and Case before it
partitions; the op `loop@body/add` is then called `loop/body/_12/add`.
"""

import dataclasses
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.protobuf import config_pb2

from placer.core import op_path
from placer.measurers import peak_memory

# Lowering, and cutting an edge into send and receive, add such numbers.
_NUMBER = re.compile(r'/_\d+(?=/|$|:)')
_CROSSINGS = frozenset(('_Send', '_Recv', '_HostSend', '_HostRecv'))
_LOWERED_ATTRIBUTES = {'then_branch': 'then', 'else_branch': 'else'}
_FUNCTIONAL = frozenset(
  ('While', 'StatelessWhile', 'If', 'StatelessIf', 'Case', 'StatelessCase')
)


@dataclasses.dataclass(frozen=True)
class ReadBack:
  """What was really run where; see the module docstring."""

  actual_devices: Mapping[str, str]
  removed_ops: int
  moved_ops: tuple[str, ...]
  partition_hash: str
  peak_memory_bytes: Mapping[str, int]
  peak_memory_source: str


def read(
  metadata: config_pb2.RunMetadata,
  requested: Mapping[str, str],
  *,
  shared_allocator: bool,
) -> ReadBack:
  """Reads a traced step.

  Args:
    metadata: of a step with output_partition_graphs and a trace.
    requested: {working name: full device name}.
    shared_allocator: whether several devices share one, as logical ones do.

  Returns:
    What was run where.
  """
  where: dict[str, str] = {}
  kernels: set[str] = set()
  left_out = crossings(metadata.partition_graphs)
  for graph_def in metadata.partition_graphs:
    for node in graph_def.node:
      name = _NUMBER.sub('', node.name)
      if node.name not in left_out:
        where[name] = node.device
      if node.op in _FUNCTIONAL:
        kernels.add(name)
  lowered = {name: lowered_name(name) for name in requested}
  actual = {name: where[low] for name, low in lowered.items() if low in where}
  peaks, source = peak_memory.read(metadata, shared_allocator=shared_allocator)
  return ReadBack(
    actual_devices=actual,
    removed_ops=sum(
      name not in actual and not _unseen(name, kernels) for name in requested
    ),
    moved_ops=tuple(
      name for name, device in actual.items() if device != requested[name]
    ),
    partition_hash=partition_hash(metadata.partition_graphs),
    peak_memory_bytes=peaks,
    peak_memory_source=source,
  )


def crossings(partition_graphs: Iterable[graph_pb2.GraphDef]) -> frozenset[str]:
  """Names of the nodes that only bring edges from device to device.

  Args:
    partition_graphs: one GraphDef a device.

  Returns:
    The names of sends and receives, and of what brings control edges on.
  """
  nodes = [node for each in partition_graphs for node in each.node]
  found = {node.name for node in nodes if node.op in _CROSSINGS}
  return frozenset(
    found | {node.name for node in nodes if _carries_control(node, found)}
  )


def _carries_control(
  node: node_def_pb2.NodeDef, crossings: Collection[str]
) -> bool:
  """Whether partitioning made a node, to bring a control edge across.

  The edge from `x` arrives as _Recv `x/_4` and, behind it, Identity `x/_5`,
  which is not `x`.
  """
  return (
    node.op == 'Identity'
    and _NUMBER.search(node.name) is not None
    and len(node.input) == 1
    and node.input[0] in crossings
  )


def without_numbers(name: str) -> str:
  """'loop/body/_12/add' and 'loop/body/_7/add' are both 'loop/body/add'."""
  return _NUMBER.sub('', name)


def lowered_name(path: str) -> str:
  """The name of an op in the partitions, without numbers.

  Args:
    path: a working name, 'loop@body/add' or 'case@branches.1/add'.

  Returns:
    'loop/body/add', 'case/branch1/add'; 'call/add' for 'call@f/add'.
  """
  if '@' not in path:
    return path
  hops, name = op_path.split(path)
  pieces = []
  for node, attribute in hops:
    pieces.append(node)
    label, _, index = attribute.partition('.')
    if index:
      pieces.append(f'branch{index}')
    elif label != 'f':
      pieces.append(_LOWERED_ATTRIBUTES.get(label, label))
  return '/'.join(pieces + [name])


def partition_hash(partitions: list[graph_pb2.GraphDef]) -> str:
  """A hash that is equal for equal executed programs.

  Attributes are left out: some vary from run to run, and those that matter
  follow from the program.

  Args:
    partitions: one GraphDef a device.

  Returns:
    16 hexadecimal digits.
  """
  lines = []
  for graph_def in partitions:
    for node in graph_def.node:
      inputs = ' '.join(_NUMBER.sub('', edge) for edge in node.input)
      name = _NUMBER.sub('', node.name)
      lines.append(f'{name} {node.op} {node.device} {inputs}')
  text = '\n'.join(sorted(lines))
  return hashlib.sha256(text.encode()).hexdigest()[:16]


def _unseen(path: str, kernels: set[str]) -> bool:
  """Whether an op is in a body that was run as one kernel."""
  cut = path.find('@')
  while cut > 0:
    if lowered_name(path[:cut]) in kernels:
      return True
    cut = path.find('@', cut + 1)
  return False
