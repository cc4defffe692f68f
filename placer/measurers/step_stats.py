"""Step stats: the records in the trace of a step, by device.

A trace is a RunMetadata. Each record (NodeExecStats) is one run of a node, one
kernel of a GPU, or one transfer. The executor's records have nanoseconds; those
of kernels and transfers have microseconds only.

| `dev_stats.device`                | its records                           |
|-----------------------------------|---------------------------------------|
| a full device name                | nodes; 'RecvTensor' from other workers|
| '…/device:GPU:0/stream:all'       | kernels, named 'node:Type'            |
| '…/device:GPU:0/memcpy'           | copies, labelled 'MemcpyH2D size:…'   |
"""

from tensorflow.core.framework import step_stats_pb2
from tensorflow.core.protobuf import config_pb2

RECV_TENSOR = 'RecvTensor'
Record = step_stats_pb2.NodeExecStats


def of_device(trace: config_pb2.RunMetadata, device: str) -> tuple[Record, ...]:
  """The records of a device, by its full name; () if there are none."""
  return tuple(
    record
    for each in trace.step_stats.dev_stats  # transfers are in one of their own
    if each.device == device
    for record in each.node_stats
  )


def kernels(
  trace: config_pb2.RunMetadata, device: str
) -> tuple[Record, ...] | None:
  """The kernels of a GPU; None of a device of which no streams were traced."""
  return _of_part(trace, device, '/stream:all')


def copies(trace: config_pb2.RunMetadata, device: str) -> tuple[Record, ...]:
  """What was copied from and to a GPU in its own process."""
  return _of_part(trace, device, '/memcpy') or ()


def node_name(record: Record) -> str:
  """The name of the node that a record is of."""
  return record.node_name.partition(':')[0]


def start_nanos(record: Record) -> int:
  """When it began, in nanoseconds since 1970."""
  if record.all_start_nanos:
    return record.all_start_nanos + record.op_start_rel_nanos
  return 1000 * (record.all_start_micros + record.op_start_rel_micros)


def nanos(record: Record) -> int:
  """How long it took, in nanoseconds; of an op, its kernel only."""
  if record.op_end_rel_nanos:
    return max(record.op_end_rel_nanos - record.op_start_rel_nanos, 0)
  return 1000 * max(record.op_end_rel_micros - record.op_start_rel_micros, 0)


def _of_part(
  trace: config_pb2.RunMetadata, device: str, part: str
) -> tuple[Record, ...] | None:
  # The job is left out of some names.
  wanted = device[device.find('/device:') :] + part
  found = [
    each.node_stats
    for each in trace.step_stats.dev_stats
    if each.device.endswith(wanted)
  ]
  return tuple(record for each in found for record in each) if found else None
