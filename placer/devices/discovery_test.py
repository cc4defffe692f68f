import os
import subprocess
import sys

from absl.testing import absltest

from placer.core import errors
from placer.devices import discovery


class DiscoveryTest(absltest.TestCase):
  def tearDown(self):
    discovery.discover.cache_clear()
    super().tearDown()

  def test_finds_the_cpu_in_a_child(self):
    devices = discovery.discover()
    self.assertEqual(
      devices[-1].name, '/job:localhost/replica:0/task:0/device:CPU:0'
    )

  def test_this_process_does_not_need_tensorflow(self):
    # In a process of its own: other tests may have imported it here.
    code = (
      'import sys\nfrom placer.devices import discovery\n'
      "discovery.discover()\nprint('tensorflow.python' in sys.modules)"
    )
    path = os.pathsep.join(os.path.abspath(p or '.') for p in sys.path)
    done = subprocess.run(
      [sys.executable, '-c', code],
      env=dict(os.environ, PYTHONPATH=path),
      capture_output=True,
      check=True,
      text=True,
    )
    self.assertEqual(done.stdout.strip(), 'False')

  def test_gpus_come_first_and_a_cpu_has_no_limit(self):
    found = [
      {'name': '/device:CPU:0', 'memory_bytes': 1 << 28, 'description': ''},
      {'name': '/device:GPU:1', 'memory_bytes': 7, 'description': 'b'},
      {'name': '/device:GPU:0', 'memory_bytes': 5, 'description': 'a'},
    ]
    devices = discovery.order(found, (0, 1), 'A CPU')
    self.assertEqual([d.type for d in devices], ['GPU', 'GPU', 'CPU'])
    self.assertEqual([d.memory_bytes for d in devices], [5, 7, None])
    self.assertEqual(devices[2].description, '2 cores of A CPU')

  def test_a_child_that_fails_is_a_usage_error(self):
    failure = subprocess.CalledProcessError(1, 'python', stderr=b'no libcuda')
    with (
      absltest.mock.patch.object(subprocess, 'run', side_effect=failure),
      self.assertRaisesRegex(errors.UsageError, 'no libcuda'),
    ):
      discovery.discover()


if __name__ == '__main__':
  absltest.main()
