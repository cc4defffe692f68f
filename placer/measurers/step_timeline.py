"""Reads when the ops and transfers of a traced step ran.

    step = step_timeline.choose(traces, devices)

* A CPU's ops are as the executor ran them, from the start of a kernel to its
  end; those of a GPU are its kernels, not their launches.
* A transfer between processes is from when the sender had the tensor and was
  asked for it to its arrival; one between a GPU and its host is a copy.
* Nodes that send and receive are left out: they only wait for transfers.
* TensorFlow loses the transfers of a worker in some of the steps, so that
  several are traced, and the one that has most of them is shown.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from tensorflow.core.protobuf import config_pb2

from placer.core import executed_step
from placer.measurers import partitions
from placer.measurers import step_stats

# '[4096B] [1.2Gb/s] edge_7_dense/MatMul from /job:… to /job:…'
_ROUTE = re.compile(r'(\S+) from (\S+) to (\S+)$')
_SOURCE = '_SOURCE'  # the executor's own, before all others
_EDGE_NUMBER = re.compile(r'^edge_\d+_')
_COPY = re.compile(r'^Memcpy(H2D|D2H)\b')
_COPY_BYTES = re.compile(r'\bsize:(\d+)')


def choose(
  traces: Iterable[bytes], devices: Sequence[str]
) -> executed_step.ExecutedStep:
  """The step with the most transfers; of several, the shortest.

  Args:
    traces: at least one serialised RunMetadata, of one placement.
    devices: full names of the D devices.

  Returns:
    The ExecutedStep.

  Raises:
    ValueError: no op ran on any of the devices.
  """
  steps = [read(trace, devices) for trace in traces]
  return min(steps, key=lambda step: (-len(step.transfers), step.seconds))


def read(trace: bytes, devices: Sequence[str]) -> executed_step.ExecutedStep:
  """Reads the trace of one step.

  Args:
    trace: a serialised RunMetadata, with partition graphs.
    devices: full names of the D devices; what ran elsewhere is left out.

  Returns:
    The ExecutedStep, ops and transfers by their start.

  Raises:
    ValueError: no op ran on any of the devices.
  """
  metadata = config_pb2.RunMetadata.FromString(trace)
  left_out = partitions.crossings(metadata.partition_graphs)
  types = {
    node.name: node.op
    for graph_def in metadata.partition_graphs
    for node in graph_def.node
  }
  runs = {device: _runs(metadata, device, left_out) for device in devices}
  starts = [
    step_stats.start_nanos(run) for each in runs.values() for run in each
  ]
  if not starts:
    raise ValueError(f'Nothing was traced on {", ".join(devices)}.')
  first = min(starts)
  ops = [
    executed_step.ExecutedOp(
      partitions.without_numbers(step_stats.node_name(run)),
      types.get(step_stats.node_name(run), ''),
      device,
      *_span(run, first),
    )
    for device, each in runs.items()
    for run in each
  ]
  transfers = [
    transfer
    for device in devices
    for transfer in (
      *_received(metadata, device, first),
      *_copied(metadata, device, first),
    )
  ]
  return executed_step.ExecutedStep(_by_start(ops), _by_start(transfers))


def _runs(
  metadata: config_pb2.RunMetadata, device: str, left_out: Collection[str]
) -> list[step_stats.Record]:
  """The records of a device that are runs of nodes, or their kernels."""
  records = step_stats.kernels(metadata, device)
  if records is None:
    records = step_stats.of_device(metadata, device)
  return [
    record
    for record in records
    if record.node_name not in (step_stats.RECV_TENSOR, _SOURCE)
    and step_stats.node_name(record) not in left_out
  ]


def _received(
  metadata: config_pb2.RunMetadata, device: str, first: int
) -> Iterable[executed_step.ExecutedTransfer]:
  """What a device received from other processes."""
  for record in step_stats.of_device(metadata, device):
    route = _ROUTE.search(record.timeline_label)
    if record.node_name == step_stats.RECV_TENSOR and route:
      edge, source, target = route.groups()
      yield executed_step.ExecutedTransfer(
        partitions.without_numbers(_EDGE_NUMBER.sub('', edge)),
        source,
        target,
        sum(
          output.tensor_description.allocation_description.requested_bytes
          for output in record.output
        ),
        *_span(record, first),
      )


def _copied(
  metadata: config_pb2.RunMetadata, device: str, first: int
) -> Iterable[executed_step.ExecutedTransfer]:
  """What was copied between a GPU and the CPU of its process."""
  host = f'{device[: device.find("/device:")]}/device:CPU:0'
  for record in step_stats.copies(metadata, device):
    kind = _COPY.match(record.timeline_label)
    if kind:
      route = (host, device) if kind[1] == 'H2D' else (device, host)
      size = _COPY_BYTES.search(record.timeline_label)
      yield executed_step.ExecutedTransfer(
        partitions.without_numbers(step_stats.node_name(record)),
        *route,
        int(size[1]) if size else 0,
        *_span(record, first),
      )


def _span(record: step_stats.Record, first: int) -> tuple[float, float]:
  """(start, end) of a record, in seconds after `first`."""
  start = step_stats.start_nanos(record) - first
  return 1e-9 * start, 1e-9 * (start + step_stats.nanos(record))


def _by_start(spans):
  return tuple(
    sorted(spans, key=lambda each: (each.start_seconds, each.end_seconds))
  )
