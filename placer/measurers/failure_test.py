from absl.testing import absltest
from absl.testing import parameterized

from placer.core import measurement
from placer.measurers import failure

_Status = measurement.Status
_WORKER = '/job:worker/replica:0/task:1/device:CPU:0'


def _error(kind: str, message: str) -> Exception:
  return type(kind, (Exception,), {})(message)


class ClassifyTest(parameterized.TestCase):
  @parameterized.named_parameters(
    (
      'out_of_memory',
      'ResourceExhaustedError',
      "Graph execution error:\n\nDetected at node 'b/big' defined at (most "
      "recent call last):\nNode: 'b/big'\nOOM when allocating tensor with "
      f'shape[200,262144] and type float on {_WORKER} by allocator mklcpu\n\t '
      '[[{{node b/big}}]]\nHint: If you want to see a list',
      _Status.OUT_OF_MEMORY,
      {'op': 'b/big', 'device': _WORKER},
    ),
    (
      'no_kernel',
      'InvalidArgumentError',
      "No OpKernel was registered to support Op 'NcclAllReduce' used by "
      '{{node b/nccl}} with these attrs: []',
      _Status.UNSUPPORTED_OP,
      {'op': 'b/nccl'},
    ),
    (
      'no_kernel_over_grpc',
      'NotFoundError',
      "No registered 'NcclAllReduce' OpKernel for 'CPU' devices compatible "
      'with node {{node b/nccl}}\nAdditional GRPC error information',
      _Status.UNSUPPORTED_OP,
      {'op': 'b/nccl'},
    ),
    (
      'channels_first',
      'InvalidArgumentError',
      'Default MaxPoolingOp only supports NHWC on device type CPU\n\t '
      '[[{{node pool}}]]',
      _Status.UNSUPPORTED_OP,
      {'op': 'pool'},
    ),
    (
      'unimplemented',
      'UnimplementedError',
      'Hessian not there [[{{node f}}]]',
      _Status.UNSUPPORTED_OP,
      {'op': 'f'},
    ),
    (
      'absent_device',
      'InvalidArgumentError',
      'Cannot assign a device for operation a/b: {{node a/b}} was explicitly '
      'assigned to /device:GPU:3 but available devices are [ x ]',
      _Status.INVALID_PLACEMENT,
      {'op': 'a/b'},
    ),
    (
      'values',
      'InvalidArgumentError',
      'indices[0] = 9 is not in [0, 5)\n\t [[{{node gather}}]]',
      _Status.CRASHED,
      {'op': 'gather'},
    ),
    (
      'deadline',
      'DeadlineExceededError',
      'Deadline Exceeded',
      _Status.TIMEOUT,
      {},
    ),
  )
  def test_status_and_op(self, kind, message, status, details):
    result = failure.classify(_error(kind, message), remote=False)
    self.assertEqual(result.status, status)
    self.assertEqual(result.details, details)
    self.assertNotIn('Hint', result.reason)
    self.assertNotIn('GRPC', result.reason)
    self.assertNotIn('Detected at', result.reason)
    self.assertNotIn('\n', result.reason)

  def test_unavailable_is_a_lost_device_only_over_grpc(self):
    error = _error('UnavailableError', 'failed to connect')
    for remote, status in ((True, 'device_lost'), (False, 'crashed')):
      result = failure.classify(error, remote=remote)
      self.assertEqual(result.status.value, status)

  def test_a_long_reason_is_cut(self):
    result = failure.classify(_error('InternalError', 'x' * 9999), remote=False)
    self.assertLess(len(result.reason), 1000)


if __name__ == '__main__':
  absltest.main()
