"""Reads what ops took from the traces of steps.

    profile = step_trace.read(traces, op_names, tensor_source, device)

A trace is the RunMetadata of a step with FULL_TRACE (on a CPU, SOFTWARE_TRACE
does) and output_partition_graphs. Letters: `N` ops, `T` tensors.

* A CPU's times are those of the executor, from the start of a kernel to its
  end. Ops must have run one after the other, else they count each other's.
* A GPU's executor only launches kernels; what they took is in records of its
  streams (`step_stats.py`).
* Nodes that TensorFlow made and no op is named after (a layout transpose, a
  folded constant, a send) count for the first op that reads from them,
  directly or through others like them, else the first that they read from.
* An op in a loop has a record a run.
* A tensor took over a buffer when it has the address of one of its inputs.
"""

import collections
from collections.abc import Sequence

import numpy as np
from tensorflow.core.protobuf import config_pb2

from placer.core import step_profile
from placer.measurers import partitions
from placer.measurers import step_stats


def read(
  traces: Sequence[config_pb2.RunMetadata],
  op_names: Sequence[str],
  tensor_source: np.ndarray,
  device: str,
  step_seconds: float,
) -> step_profile.StepProfile:
  """Reads the traces of some steps of one placement.

  Args:
    traces: at least one.
    op_names: working names of the N ops.
    tensor_source: int32 `[T]`, non-decreasing, the op that makes a tensor.
    device: full name of the profiled device.
    step_seconds: of an untraced step.

  Returns:
    The StepProfile.
  """
  owners = _Owners(traces[-1], op_names)
  each = [_op_seconds(trace, owners, device) for trace in traces]
  memory = _Memory(traces[-1], owners, tensor_source, device)
  return step_profile.StepProfile(
    op_seconds=np.median([seconds for seconds, _ in each], axis=0),
    op_runs=np.max([runs for _, runs in each], axis=0),
    temporary_bytes=memory.temporary_bytes,
    tensor_bytes=memory.tensor_bytes,
    shares_tensor=memory.shares_tensor,
    persistent_bytes=_least_in_use(
      step_stats.of_device(traces[-1], device), device
    ),
    step_seconds=step_seconds,
  )


class _Owners:
  """Which op a node of the partitions counts for."""

  def __init__(
    self, trace: config_pb2.RunMetadata, op_names: Sequence[str]
  ) -> None:
    self.own = {
      partitions.lowered_name(name): op for op, name in enumerate(op_names)
    }
    self._crossings = partitions.crossings(trace.partition_graphs)
    self.inputs: dict[str, list[tuple[str, int]]] = {}
    readers: dict[str, list[str]] = collections.defaultdict(list)
    for graph_def in trace.partition_graphs:
      for node in graph_def.node:
        edges = [_edge(text) for text in node.input]
        self.inputs[node.name] = edges
        for source, _ in edges:
          readers[source].append(node.name)
    self.readers = readers
    self._found: dict[str, int] = {}

  def named(self, node: str) -> int:
    """The op that a node is named after, or -1."""
    if node in self._crossings:
      return -1  # 'x/_4' brings the tensor of `x`, which runs elsewhere
    return self.own.get(partitions.without_numbers(node), -1)

  def of(self, node: str) -> int:
    """The op that a node counts for, or -1."""
    if node not in self._found:
      found = self.named(node)
      if found < 0:
        found = self._nearest(node, self.readers.__getitem__)
      if found < 0:
        found = self._nearest(node, self._sources)
      self._found[node] = found
    return self._found[node]

  def _sources(self, node: str) -> list[str]:
    return [source for source, _ in self.inputs.get(node, ())]

  def _nearest(self, node: str, following) -> int:
    """The first op on any way along `following`, breadth first; or -1."""
    seen, queue = {node}, collections.deque([node])
    while queue:
      for other in following(queue.popleft()):
        op = self.named(other)
        if op >= 0:
          return op
        if other not in seen:
          seen.add(other)
          queue.append(other)
    return -1


class _Memory:
  """What was allocated, by op and by tensor."""

  def __init__(self, trace, owners, tensor_source, device) -> None:
    self.owners = owners
    count = len(owners.own)
    self.first = np.searchsorted(tensor_source, np.arange(count + 1))
    self.temporary_bytes = np.zeros(count, np.int64)
    self.tensor_bytes = np.full(len(tensor_source), -1, np.int64)
    self.shares_tensor = np.full(len(tensor_source), -1, np.int32)
    on_gpu = '/device:GPU:' in device
    stats = step_stats.of_device(trace, device)
    self.address = {
      (node.node_name, output.slot): _allocation(output).ptr
      for node in stats
      for output in node.output
      if _allocation(output).ptr
    }
    for node in stats:
      self._add(node, on_gpu)

  def _add(self, node: step_stats.Record, on_gpu: bool) -> None:
    op = self.owners.of(node.node_name)
    if op < 0:
      return
    taken = sum(
      max(memory.peak_bytes - memory.live_bytes, 0)
      for memory in node.memory
      # A GPU's ops also take pinned memory of the host.
      if not on_gpu or memory.allocator_name.startswith('GPU')
    )
    self.temporary_bytes[op] = max(self.temporary_bytes[op], taken)
    if self.owners.named(node.node_name) != op:
      return
    for output in node.output:
      tensor = self._tensor(op, output.slot)
      if tensor >= 0:
        self.tensor_bytes[tensor] = _allocation(output).allocated_bytes
        self.shares_tensor[tensor] = self._taken_over(node.node_name, output)

  def _tensor(self, op: int, slot: int) -> int:
    tensor = self.first[op] + slot
    return int(tensor) if tensor < self.first[op + 1] else -1

  def _taken_over(self, name: str, output) -> int:
    address = _allocation(output).ptr
    for source, slot in self.owners.inputs.get(name, ()):
      if address and self.address.get((source, slot)) == address:
        op = self.owners.named(source)
        return self._tensor(op, slot) if op >= 0 else -1
    return -1


def _op_seconds(
  trace: config_pb2.RunMetadata, owners: _Owners, device: str
) -> tuple[np.ndarray, np.ndarray]:
  """(seconds float64 `[N]`, runs int64 `[N]`) of one step."""
  nanos = np.zeros(len(owners.own), np.int64)
  runs = np.zeros(len(owners.own), np.int64)
  kernels = step_stats.kernels(trace, device)
  nodes = step_stats.of_device(trace, device)
  for record in nodes if kernels is None else kernels:
    op = owners.of(step_stats.node_name(record))
    if op >= 0:
      nanos[op] += step_stats.nanos(record)
  for record in nodes:
    op = owners.named(record.node_name)
    if op >= 0:
      runs[op] += 1
  return 1e-9 * nanos, runs


def _allocation(output):
  return output.tensor_description.allocation_description


def _edge(text: str) -> tuple[str, int]:
  """(node, slot) of an input of a NodeDef; the slot of a control edge is -1."""
  if text.startswith('^'):
    return text[1:], -1
  name, _, slot = text.partition(':')
  return name, int(slot or 0)


def _least_in_use(stats, device: str) -> int:
  """What the device's allocators always have in use, by the records."""
  on_gpu = '/device:GPU:' in device
  least: dict[str, int] = {}
  for node in stats:
    for memory in node.memory:
      if memory.allocator_bytes_in_use and (
        not on_gpu or memory.allocator_name.startswith('GPU')
      ):
        others = memory.allocator_bytes_in_use - memory.live_bytes
        known = least.get(memory.allocator_name, others)
        least[memory.allocator_name] = min(known, others)
  return max(sum(least.values()), 0)
