"""Traces by hand: what GPUs record and what TensorFlow makes of a graph.

Traces of real steps are in `lane_server_test.py`.
"""

from collections.abc import Sequence

import numpy as np
from absl.testing import absltest
from tensorflow.core.protobuf import config_pb2

from placer.measurers import step_trace

_CPU = '/job:localhost/replica:0/task:0/device:CPU:0'
_GPU = '/job:localhost/replica:0/task:0/device:GPU:0'


class _Trace:
  """A RunMetadata that is made record by record."""

  def __init__(self) -> None:
    self.metadata = config_pb2.RunMetadata()
    self._graph = self.metadata.partition_graphs.add()

  def node(self, name: str, op: str = 'Exp', inputs: str = '') -> '_Trace':
    """A node of the partition."""
    self._graph.node.add(name=name, op=op, input=inputs.split())
    return self

  def ran(
    self,
    name: str,
    nanos: int,
    device: str = _CPU,
    *,
    outputs: Sequence[tuple[int, int]] = (),
    temporary: int = 0,
    in_use: int = 0,
    allocator: str = 'cpu',
  ) -> '_Trace':
    """A run of a node; `outputs` are (address, bytes)."""
    record = self._device(device).node_stats.add(
      node_name=name,
      all_start_nanos=10**18,
      op_start_rel_nanos=100,
      op_end_rel_nanos=100 + nanos,
    )
    for slot, (address, size) in enumerate(outputs):
      output = record.output.add(slot=slot)
      allocation = output.tensor_description.allocation_description
      allocation.ptr, allocation.allocated_bytes = address, size
    if temporary or in_use:
      record.memory.add(
        allocator_name=allocator,
        peak_bytes=temporary + 8,
        live_bytes=8,
        allocator_bytes_in_use=in_use,
      )
    return self

  def kernel(self, name: str, micros: int) -> '_Trace':
    """A kernel on the GPU's streams."""
    self._device('/device:GPU:0/stream:all').node_stats.add(
      node_name=name, all_start_micros=10**15, op_end_rel_micros=micros
    )
    return self

  def read(self, names: Sequence[str], device: str = _CPU, source=None):
    """The profile of this trace; by default each op has one tensor."""
    source = np.arange(len(names)) if source is None else np.asarray(source)
    return step_trace.read([self.metadata], names, source, device, 1.0)

  def _device(self, name: str):
    for each in self.metadata.step_stats.dev_stats:
      if each.device == name:
        return each
    return self.metadata.step_stats.dev_stats.add(device=name)


class TimesTest(absltest.TestCase):
  def test_the_median_of_several_steps(self):
    traces = [
      _Trace().node('a').node('b').ran('a', nanos).metadata
      for nanos in (9_000, 1_000, 2_000)
    ]
    found = step_trace.read(traces, ['a', 'b'], np.arange(2), _CPU, 0.5)
    np.testing.assert_allclose(found.op_seconds, [2e-6, 0])
    np.testing.assert_array_equal(found.op_runs, [1, 0])
    np.testing.assert_array_equal(found.is_run, [True, False])
    self.assertEqual(found.step_seconds, 0.5)

  def test_a_loops_ops_have_a_record_a_run(self):
    trace = _Trace().node('loop/body/_12/mul')
    for _ in range(3):
      trace.ran('loop/body/_12/mul', 2_000)
    found = trace.read(['loop@body/mul', 'mul'])
    np.testing.assert_allclose(found.op_seconds, [6e-6, 0])
    np.testing.assert_array_equal(found.op_runs, [3, 0])

  def test_what_ran_on_another_device_is_not_counted(self):
    trace = _Trace().node('a').node('b').ran('a', 1_000).ran('b', 5_000, _GPU)
    found = trace.read(['a', 'b'])
    np.testing.assert_allclose(found.op_seconds, [1e-6, 0])
    np.testing.assert_array_equal(found.is_run, [True, False])

  def test_a_gpu_takes_what_its_kernels_take(self):
    trace = _Trace().node('a').node('b', inputs='a').node('c', inputs='b')
    for name in 'abc':
      trace.ran(name, 900_000, _GPU)
    # Two kernels of one op; none of 'c', a reshape.
    trace.kernel('a:MatMul', 30).kernel('a:MatMul', 12).kernel('b:Exp', 5)
    trace.kernel('not an op', 1_000)
    found = trace.read(['a', 'b', 'c'], _GPU)
    np.testing.assert_allclose(found.op_seconds, [42e-6, 5e-6, 0])
    np.testing.assert_array_equal(found.op_runs, [1, 1, 1])

  def test_without_streams_a_gpu_takes_what_its_executor_takes(self):
    trace = _Trace().node('a').ran('a', 7_000, _GPU)
    np.testing.assert_allclose(trace.read(['a'], _GPU).op_seconds, [7e-6])


class OwnersTest(absltest.TestCase):
  def test_foreign_nodes_count_for_the_op_that_reads_them(self):
    trace = (
      _Trace()
      .node('a')
      .node('a-transpose', 'Transpose', 'a')
      .node('a-cast', 'Cast', 'a-transpose')
      .node('b', inputs='a-cast')
      .ran('a', 1_000)
      .ran('a-transpose', 10_000)
      .ran('a-cast', 20_000)
      .ran('b', 2_000)
    )
    found = trace.read(['a', 'b'])
    np.testing.assert_allclose(found.op_seconds, [1e-6, 32e-6])
    # They are no runs of the op.
    np.testing.assert_array_equal(found.op_runs, [1, 1])

  def test_where_no_op_reads_them_they_count_for_what_they_read(self):
    trace = (
      _Trace()
      .node('a')
      .node('a-copy', 'Identity', 'a')
      .node('_retval', '_Retval', '^a-copy')
      .ran('a-copy', 3_000)
      .ran('_retval', 4_000)
    )
    np.testing.assert_allclose(trace.read(['a', 'b']).op_seconds, [7e-6, 0])

  def test_foreign_nodes_in_a_ring_or_alone_count_for_none(self):
    trace = (
      _Trace()
      .node('x', inputs='y')
      .node('y', inputs='x:1')
      .node('alone')
      .ran('x', 1_000)
      .ran('alone', 1_000)
      .ran('not in the graph', 1_000)
    )
    found = trace.read(['a'])
    np.testing.assert_allclose(found.op_seconds, [0])
    self.assertFalse(found.is_run[0])

  def test_a_fused_op_has_the_name_that_is_left(self):
    trace = (
      _Trace()
      .node('conv/bias', '_FusedConv2D', 'x w b')
      .ran('conv/bias', 8_000, temporary=64)
    )
    found = trace.read(['conv', 'conv/bias'])
    np.testing.assert_allclose(found.op_seconds, [0, 8e-6])
    np.testing.assert_array_equal(found.is_run, [False, True])
    np.testing.assert_array_equal(found.temporary_bytes, [0, 64])

  def test_a_receive_is_no_run_of_the_op_that_was_sent(self):
    trace = (
      _Trace()
      .node('host/_3', '_HostRecv')
      .node('host/_4', 'Identity', 'host/_3')
      .node('a', inputs='^host/_4')
      .ran('host/_3', 5_000)
      .ran('host/_4', 1_000)
      .ran('a', 2_000)
    )
    found = trace.read(['host', 'a'])
    np.testing.assert_array_equal(found.is_run, [False, True])
    np.testing.assert_array_equal(found.op_runs, [0, 1])
    self.assertEqual(found.op_seconds[0], 0.0)


class MemoryTest(absltest.TestCase):
  def test_tensors_have_what_was_allocated(self):
    trace = (
      _Trace()
      .node('a')
      .node('b', inputs='a:1')
      .ran('a', 1, outputs=[(100, 64), (200, 128)])
      .ran('b', 1, outputs=[(300, 256)], temporary=32)
    )
    found = trace.read(['a', 'b', 'c'], source=[0, 0, 1, 2])
    np.testing.assert_array_equal(found.tensor_bytes, [64, 128, 256, -1])
    np.testing.assert_array_equal(found.shares_tensor, [-1] * 4)
    np.testing.assert_array_equal(found.temporary_bytes, [0, 32, 0])

  def test_a_tensor_takes_over_the_buffer_of_an_input(self):
    trace = (
      _Trace()
      .node('a')
      .node('b', inputs='^a a:1')
      .node('c', inputs='b')
      .ran('a', 1, outputs=[(100, 64), (200, 128)])
      .ran('b', 1, outputs=[(200, 128)])
      .ran('c', 1, outputs=[(200, 128)])
    )
    found = trace.read(['a', 'b', 'c'], source=[0, 0, 1, 2])
    np.testing.assert_array_equal(found.shares_tensor, [-1, -1, 1, 2])

  def test_an_address_that_no_input_has_is_a_buffer_used_again(self):
    trace = (
      _Trace()
      .node('a')
      .node('b')
      .ran('a', 1, outputs=[(100, 64)])
      .ran('b', 1, outputs=[(100, 64)])
    )
    np.testing.assert_array_equal(
      trace.read(['a', 'b']).shares_tensor, [-1] * 2
    )

  def test_what_a_foreign_node_hands_over_belongs_to_no_tensor(self):
    trace = (
      _Trace()
      .node('foreign')
      .node('b', inputs='foreign')
      .ran('foreign', 1, outputs=[(100, 64)], temporary=16)
      .ran('b', 1, outputs=[(100, 64)])
    )
    found = trace.read(['b'])
    np.testing.assert_array_equal(found.shares_tensor, [-1])
    np.testing.assert_array_equal(found.tensor_bytes, [64])
    np.testing.assert_array_equal(found.temporary_bytes, [16])

  def test_a_gpus_pinned_host_memory_is_not_its_own(self):
    trace = (
      _Trace()
      .node('a')
      .node('b')
      .ran('a', 1, _GPU, temporary=64, allocator='GPU_0_bfc')
      .ran('b', 1, _GPU, temporary=64, allocator='gpu_host_bfc')
    )
    found = trace.read(['a', 'b'], _GPU)
    np.testing.assert_array_equal(found.temporary_bytes, [64, 0])

  def test_what_is_in_use_all_the_time_is_persistent(self):
    trace = (
      _Trace()
      .node('a')
      .node('b')
      .ran('a', 1, in_use=1_000)
      .ran('b', 1, in_use=508)
    )
    # The least, without what the op itself has just made.
    self.assertEqual(trace.read(['a', 'b']).persistent_bytes, 500)
    self.assertEqual(trace.read(['a', 'b'], _GPU).persistent_bytes, 0)

  def test_outputs_that_the_graph_does_not_have_are_left_out(self):
    trace = _Trace().node('a').ran('a', 1, outputs=[(100, 64), (200, 32)])
    np.testing.assert_array_equal(trace.read(['a']).tensor_bytes, [64])


if __name__ == '__main__':
  absltest.main()
