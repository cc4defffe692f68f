from absl.testing import absltest
from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import config_pb2

from placer.measurers import peak_memory

_CPU = '/job:localhost/replica:0/task:0/device:CPU:0'
_GPU = '/job:localhost/replica:0/task:0/device:GPU:0'


def _metadata(
  *events: tuple[str, str, int, list[tuple[int, int]]],
) -> config_pb2.RunMetadata:
  """Of (device, allocator, bytes in use, [(micros, bytes), ...]) per op."""
  metadata = config_pb2.RunMetadata()
  devices = {}
  for device, allocator, in_use, records in events:
    if device not in devices:
      devices[device] = metadata.step_stats.dev_stats.add(device=device)
    memory = (
      devices[device]
      .node_stats.add()
      .memory.add(allocator_name=allocator, allocator_bytes_in_use=in_use)
    )
    for micros, size in records:
      memory.allocation_records.add(alloc_micros=micros, alloc_bytes=size)
  return metadata


class PeakMemoryTest(absltest.TestCase):
  def test_most_in_use(self):
    metadata = _metadata(
      (_CPU, 'mklcpu', 100, []),
      (_CPU, 'mklcpu', 300, []),
      (_CPU, 'mklcpu', 200, []),
    )
    self.assertEqual(
      peak_memory.read(metadata, shared_allocator=False),
      ({_CPU: 300}, 'allocator'),
    )

  def test_pinned_memory_is_not_the_gpus(self):
    metadata = _metadata(
      (_GPU, 'GPU_0_bfc', 100, []),
      (_GPU, 'gpu_host_bfc', 700, []),
      ('/device:GPU:0/stream:all', 'GPU_0_bfc', 900, []),
    )
    peaks, _ = peak_memory.read(metadata, shared_allocator=False)
    self.assertEqual(peaks, {_GPU: 100})

  def test_records_where_devices_share_an_allocator(self):
    metadata = _metadata(
      (_CPU, 'mklcpu', 999, [(1, 10), (4, -10)]),
      (_CPU, 'mklcpu', 999, [(2, 30), (3, -30)]),
      (_CPU, 'mklcpu', 999, [(5, 35)]),
    )
    partition = metadata.partition_graphs.add()
    variable = partition.node.add(name='v', op='VarHandleOp', device=_CPU)
    variable.attr['dtype'].type = types_pb2.DT_FLOAT
    variable.attr['shape'].shape.dim.add(size=25)
    unknown = partition.node.add(name='u', op='VarHandleOp', device=_CPU)
    unknown.attr['dtype'].type = types_pb2.DT_FLOAT
    unknown.attr['shape'].shape.dim.add(size=-1)
    self.assertEqual(
      peak_memory.read(metadata, shared_allocator=True),
      ({_CPU: 140}, 'allocation records'),
    )

  def test_nothing_recorded(self):
    peaks, _ = peak_memory.read(
      config_pb2.RunMetadata(), shared_allocator=False
    )
    self.assertEmpty(peaks)


if __name__ == '__main__':
  absltest.main()
