from absl.testing import absltest
from absl.testing import parameterized

from placer.core import device
from placer.core import errors

_TWO = device.DeviceTopology(
  'local:2',
  tuple(
    device.Device(f'/job:worker/replica:0/task:{i}/device:CPU:0')
    for i in range(2)
  ),
)


class CanonicalTest(parameterized.TestCase):
  @parameterized.parameters(
    ('/cpu:0', '/job:localhost/replica:0/task:0/device:CPU:0'),
    ('CPU:1', '/job:localhost/replica:0/task:0/device:CPU:1'),
    ('gpu0', '/job:localhost/replica:0/task:0/device:GPU:0'),
    ('/device:CPU:*', '/job:localhost/replica:0/task:0/device:CPU:0'),
    ('/job:ps/task:1', '/job:ps/replica:0/task:1/device:CPU:0'),
    (
      '/job:worker/replica:2/task:1/device:GPU:3',
      '/job:worker/replica:2/task:1/device:GPU:3',
    ),
    ('/device:XLA_GPU:1', '/job:localhost/replica:0/task:0/device:XLA_GPU:1'),
  )
  def test_forms(self, name: str, expected: str):
    self.assertEqual(device.canonical(name), expected)

  @parameterized.parameters('', 'the fast one', '/job:', 'CPU:-1', '/task:x')
  def test_what_is_no_device_is_refused_with_the_forms(self, name: str):
    with self.assertRaisesRegex(errors.UsageError, '/device:GPU:0'):
      device.canonical(name)


class TopologyTest(parameterized.TestCase):
  @parameterized.parameters(
    '/job:worker/task:1',
    '/task:1',
    '/job:worker/replica:0/task:1/device:CPU:0',
    '/task:1/cpu:0',
  )
  def test_index_takes_every_form(self, name: str):
    self.assertEqual(_TWO.index(name), 1)

  @parameterized.parameters('CPU:0', '/gpu:0', '/task:2', '/job:ps')
  def test_index_names_what_exists(self, name: str):
    with self.assertRaisesRegex(errors.UsageError, 'task:0.*task:1'):
      _TWO.index(name)

  def test_a_device_named_twice_is_refused(self):
    cpu = device.Device('/job:a/replica:0/task:0/device:CPU:0')
    with self.assertRaisesRegex(errors.UsageError, 'twice'):
      device.DeviceTopology('x', (cpu, cpu))

  def test_link_seconds(self):
    link = device.Link(0, 1, latency_seconds=0.5, bytes_per_second=100.0)
    self.assertEqual(link.seconds(50), 1.0)


if __name__ == '__main__':
  absltest.main()
