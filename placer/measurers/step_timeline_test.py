"""Traces by hand; a trace of a step that was run is in `lane_server_test.py`
and, of two workers, in `session_measurer_test.py`.
"""

import numpy as np
from absl.testing import absltest
from tensorflow.core.protobuf import config_pb2

from placer.measurers import step_timeline

_A = '/job:worker/replica:0/task:0/device:CPU:0'
_B = '/job:worker/replica:0/task:1/device:CPU:0'
_HOST = '/job:localhost/replica:0/task:0/device:CPU:0'
_GPU = '/job:localhost/replica:0/task:0/device:GPU:0'
_START = 1_700_000_000_000_000  # microseconds


def _trace() -> config_pb2.RunMetadata:
  return config_pb2.RunMetadata()


def _ran(trace, device, name, start_micros, micros) -> None:
  """A run of a node, in nanoseconds as the executor has it."""
  trace.step_stats.dev_stats.add(device=device).node_stats.add(
    node_name=name,
    all_start_micros=_START + start_micros,
    all_start_nanos=1000 * (_START + start_micros),
    op_end_rel_nanos=1000 * micros,
  )


def _recorded(trace, device, name, start_micros, micros, label='') -> None:
  """A transfer or a kernel, which have no nanoseconds."""
  trace.step_stats.dev_stats.add(device=device).node_stats.add(
    node_name=name,
    all_start_micros=_START + start_micros,
    op_end_rel_micros=micros,
    timeline_label=label,
  )


def _two_workers(*, with_transfer: bool = True) -> config_pb2.RunMetadata:
  trace = _trace()
  graph = trace.partition_graphs.add()
  for name, op in (
    ('a', 'MatMul'),
    ('a/_1', '_Send'),
    ('a/_2', '_Recv'),
    ('loop/_7/b', 'Exp'),
  ):
    graph.node.add(name=name, op=op)
  if with_transfer:
    label = f'[64B] [0.5Mb/s] edge_3_loop/_7/a from {_A} to {_B}'
    _recorded(trace, _B, 'RecvTensor', 12, 5, label)
    record = trace.step_stats.dev_stats[-1].node_stats[-1].output.add()
    record.tensor_description.allocation_description.requested_bytes = 64
  _ran(trace, _A, '_SOURCE', 0, 1)
  _ran(trace, _A, 'a', 2, 10)
  _ran(trace, _B, 'a/_2', 3, 14)
  _ran(trace, _B, 'loop/_7/b', 17, 3)
  _ran(trace, _B, 'loop/_7/b', 21, 4)
  return trace


class StepTimelineTest(absltest.TestCase):
  def test_ops_and_transfers_of_two_workers(self):
    step = step_timeline.read(_two_workers().SerializeToString(), [_A, _B])
    self.assertEqual(
      [(op.name, op.type, op.device) for op in step.ops],
      [('a', 'MatMul', _A), ('loop/b', 'Exp', _B), ('loop/b', 'Exp', _B)],
    )
    spans = [(op.start_seconds, op.end_seconds) for op in step.ops]
    np.testing.assert_allclose(
      spans, [(0, 10e-6), (15e-6, 18e-6), (19e-6, 23e-6)]
    )
    (transfer,) = step.transfers
    self.assertEqual(
      (transfer.name, transfer.source, transfer.target, transfer.bytes),
      ('loop/a', _A, _B, 64),
    )
    np.testing.assert_allclose(
      (transfer.start_seconds, transfer.end_seconds), (10e-6, 15e-6)
    )
    np.testing.assert_allclose(step.seconds, 23e-6)

  def test_the_step_with_the_most_transfers_is_chosen(self):
    traces = [
      _two_workers(with_transfer=with_transfer).SerializeToString()
      for with_transfer in (False, True, False)
    ]
    step = step_timeline.choose(traces, [_A, _B])
    self.assertLen(step.transfers, 1)
    self.assertEqual(step, step_timeline.choose(traces[::-1], [_A, _B]))

  def test_a_gpu_has_kernels_and_copies(self):
    trace = _trace()
    trace.partition_graphs.add().node.add(name='a', op='MatMul')
    _ran(trace, _HOST, 'x', 0, 4)
    _ran(trace, _GPU, 'a', 5, 2)  # the launch
    _recorded(trace, '/device:GPU:0/stream:all', 'a:MatMul', 9, 30, 'sgemm')
    for name, kind in (('x', 'H2D'), ('a:MatMul', 'D2H'), ('a', 'D2D')):
      label = f'Memcpy{kind} kind_src:pageable kind_dst:device size:256 dest:0'
      _recorded(trace, '/device:GPU:0/memcpy', name, 5, 3, label)
    step = step_timeline.read(trace.SerializeToString(), [_HOST, _GPU])
    x, a = step.ops
    self.assertEqual((x.name, x.device), ('x', _HOST))
    self.assertEqual((a.name, a.type, a.device), ('a', 'MatMul', _GPU))
    np.testing.assert_allclose((a.start_seconds, a.end_seconds), (9e-6, 39e-6))
    self.assertCountEqual(
      [(t.name, t.source, t.target, t.bytes) for t in step.transfers],
      [('x', _HOST, _GPU, 256), ('a', _GPU, _HOST, 256)],
    )

  def test_a_trace_without_ops(self):
    with self.assertRaisesRegex(ValueError, 'Nothing was traced on .*task:0'):
      step_timeline.read(b'', [_A])


if __name__ == '__main__':
  absltest.main()
