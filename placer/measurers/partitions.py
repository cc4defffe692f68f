"""Partitions: what TensorFlow really ran, and where (DESIGN §3.2).

`ReadBack`:
  actual_devices: {working name: full device name} of the requested ops of the
    main graph that are in the executed partitions.
  removed_ops: number of requested ops of the main graph that are not.
  moved_ops: working names of ops that ran elsewhere than requested.
  partition_hash: hash of names, ops, devices and inputs of all partitions.
  peak_memory_bytes: {full device name: bytes}.
  peak_memory_source: how they were found.
"""

import dataclasses
import hashlib
import re
from collections.abc import Mapping

from placer.devices import layout as layout_lib
from tensorflow.core.protobuf import config_pb2

# Names of sends and receives end in a number that counts edges.
_EDGE_NUMBER = re.compile(r'/_\d+')


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
    layout: layout_lib.ProcessLayout,
) -> ReadBack:
  """Reads a traced step.

  Args:
    metadata: of a step with output_partition_graphs and a trace.
    requested: {working name: full device name}.
    layout: where the devices live.

  Returns:
    What was run where.
  """
  actual: dict[str, str] = {}
  for graph_def in metadata.partition_graphs:
    for node in graph_def.node:
      if node.name in requested:
        actual[node.name] = node.device
  main = [name for name in requested if '@' not in name]
  return ReadBack(
      actual_devices=actual,
      removed_ops=sum(name not in actual for name in main),
      moved_ops=tuple(
          name for name in main if actual.get(name, '') not in ('', requested[name])
      ),
      partition_hash=partition_hash(metadata),
      peak_memory_bytes=_peak_in_use(metadata),
      peak_memory_source='allocator',
  )


def partition_hash(metadata: config_pb2.RunMetadata) -> str:
  """A hash that is equal for equal executed programs.

  Args:
    metadata: of a step with output_partition_graphs.

  Returns:
    16 hexadecimal digits.
  """
  lines = []
  for graph_def in metadata.partition_graphs:
    for node in graph_def.node:
      inputs = ' '.join(_EDGE_NUMBER.sub('', edge) for edge in node.input)
      name = _EDGE_NUMBER.sub('', node.name)
      lines.append(f'{name} {node.op} {node.device} {inputs}')
  text = '\n'.join(sorted(lines))
  return hashlib.sha256(text.encode()).hexdigest()[:16]


def _peak_in_use(metadata: config_pb2.RunMetadata) -> dict[str, int]:
  peaks: dict[str, int] = {}
  for device in metadata.step_stats.dev_stats:
    for node in device.node_stats:
      for memory in node.memory:
        peaks[device.device] = max(
            peaks.get(device.device, 0), memory.allocator_bytes_in_use
        )
  return peaks
