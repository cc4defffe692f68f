from absl.testing import absltest
from tensorflow.core.framework import step_stats_pb2
from tensorflow.core.protobuf import config_pb2

from placer.measurers import step_stats

_GPU = '/job:localhost/replica:0/task:0/device:GPU:0'


def _trace(**devices: tuple[str, str]) -> config_pb2.RunMetadata:
  """{any: (device, node name of its one record)}."""
  trace = config_pb2.RunMetadata()
  for device, name in devices.values():
    trace.step_stats.dev_stats.add(device=device).node_stats.add(node_name=name)
  return trace


class StepStatsTest(absltest.TestCase):
  def test_records_of_the_executor_have_nanoseconds(self):
    record = step_stats_pb2.NodeExecStats(
      all_start_micros=1_000_000,
      all_start_nanos=1_000_000_123,
      op_start_rel_micros=2,
      op_start_rel_nanos=2_200,
      op_end_rel_micros=5,
      op_end_rel_nanos=5_700,
    )
    self.assertEqual(step_stats.start_nanos(record), 1_000_002_323)
    self.assertEqual(step_stats.nanos(record), 3_500)

  def test_records_of_kernels_have_microseconds(self):
    record = step_stats_pb2.NodeExecStats(
      all_start_micros=1_000_000, op_end_rel_micros=7
    )
    self.assertEqual(step_stats.start_nanos(record), 1_000_000_000)
    self.assertEqual(step_stats.nanos(record), 7_000)

  def test_nothing_takes_less_than_nothing(self):
    for record in (
      step_stats_pb2.NodeExecStats(op_start_rel_nanos=9, op_end_rel_nanos=3),
      step_stats_pb2.NodeExecStats(op_start_rel_micros=9, op_end_rel_micros=3),
    ):
      self.assertEqual(step_stats.nanos(record), 0)

  def test_which_records_are_of_a_device(self):
    trace = _trace(
      launch=(_GPU, 'x'),
      kernel=('/device:GPU:0/stream:all', 'x:MatMul'),
      same=('/device:GPU:0/stream:7', 'x:MatMul'),
      copy=('/device:GPU:0/memcpy', 'x:MatMul'),
      other=('/device:GPU:1/stream:all', 'y:MatMul'),
    )
    (launch,) = step_stats.of_device(trace, _GPU)
    (kernel,) = step_stats.kernels(trace, _GPU)
    (copy,) = step_stats.copies(trace, _GPU)
    for record in (launch, kernel, copy):
      self.assertEqual(step_stats.node_name(record), 'x')

  def test_a_device_that_did_nothing(self):
    trace = _trace(launch=(_GPU, 'x'))
    self.assertEmpty(step_stats.of_device(trace, '/device:CPU:0'))
    self.assertIsNone(step_stats.kernels(trace, _GPU))
    self.assertEmpty(step_stats.copies(trace, _GPU))


if __name__ == '__main__':
  absltest.main()
