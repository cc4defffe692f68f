"""Peak memory of a step, from TensorFlow's own records of a traced step.

Where each device has an allocator of its own, the source is 'allocator': the
most bytes it had in use at the end of any op that allocated. That includes
variables and constants, received tensors, and what rounding wastes, and is
what a memory limit is held against. Scratch memory that an op frees before
it ends is missed.

Where devices share an allocator (logical devices), or it keeps no statistics
(CPU without oneDNN), the source is 'allocation records': a running sum of
each op's allocations and frees, plus the variables and constants in the
executed partitions whose shapes are known.
"""

import collections
import math

from tensorflow.core.framework import step_stats_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework import dtypes


def read(
  metadata: config_pb2.RunMetadata, *, shared_allocator: bool
) -> tuple[dict[str, int], str]:
  """The peak of each device.

  Args:
    metadata: of a traced step with output_partition_graphs.
    shared_allocator: whether devices share an allocator.

  Returns:
    ({full device name: bytes}, source); a device that never allocated is
    missing.
  """
  devices = {
    device.device: device.node_stats
    for device in metadata.step_stats.dev_stats
    if device.device.count('/') == 4  # not '/device:GPU:0/stream:all'
  }
  in_use = {name: _most_in_use(name, nodes) for name, nodes in devices.items()}
  if not shared_allocator and any(in_use.values()):
    return {name: size for name, size in in_use.items() if size}, 'allocator'
  persistent = _persistent(metadata)
  peaks = {
    name: _running_peak(nodes) + persistent[name]
    for name, nodes in devices.items()
  }
  return (
    {name: size for name, size in peaks.items() if size},
    'allocation records',
  )


def _most_in_use(device: str, nodes: list[step_stats_pb2.NodeExecStats]) -> int:
  on_gpu = '/device:GPU:' in device
  most: dict[str, int] = collections.defaultdict(int)
  for node in nodes:
    for memory in node.memory:
      # A GPU's ops also take pinned memory of the host.
      if not on_gpu or memory.allocator_name.startswith('GPU'):
        most[memory.allocator_name] = max(
          most[memory.allocator_name], memory.allocator_bytes_in_use
        )
  return sum(most.values())


def _running_peak(nodes: list[step_stats_pb2.NodeExecStats]) -> int:
  events = sorted(
    (record.alloc_micros, record.alloc_bytes)
    for node in nodes
    for memory in node.memory
    for record in memory.allocation_records
  )
  running = peak = 0
  for _, size in events:
    running += size
    peak = max(peak, running)
  return peak


def _persistent(metadata: config_pb2.RunMetadata) -> dict[str, int]:
  total: dict[str, int] = collections.defaultdict(int)
  for graph_def in metadata.partition_graphs:
    for node in graph_def.node:
      if node.op == 'Const':
        tensor = node.attr['value'].tensor
        shape, dtype = tensor.tensor_shape, tensor.dtype
      elif node.op in ('VarHandleOp', 'VariableV2'):
        shape, dtype = node.attr['shape'].shape, node.attr['dtype'].type
      else:
        continue
      sizes = [dim.size for dim in shape.dim]
      if not shape.unknown_rank and all(size >= 0 for size in sizes):
        total[node.device] += math.prod(sizes) * dtypes.as_dtype(dtype).size
  return total
