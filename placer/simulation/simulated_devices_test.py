import json

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.simulation import simulated_devices

_MINE = {
  'device_type': 'GPU',
  'flops_per_second': {'float32': 1e12},
  'memory_bytes_per_second': 1e11,
  'memory_bytes': 1000,
  'host_link': {'bytes_per_second': 1e9, 'latency_seconds': 1e-3},
}


class SimulatedDevicesTest(parameterized.TestCase):
  def _file(self, payload) -> str:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return self.create_tempfile('mine.json', content=text).full_path

  def test_several_of_a_kind(self):
    found = simulated_devices.parse('simulated:k80x4')
    topology = found.topology()
    self.assertLen(topology, 4)
    self.assertEqual(topology.spec, 'simulated:k80x4')
    self.assertEqual(
      topology.names[3], '/job:localhost/replica:0/task:0/device:GPU:3'
    )
    self.assertEqual(topology.devices[0].memory_bytes, 10_700_000_000)
    self.assertLen(topology.links, 12)
    self.assertEqual(topology.links[0].latency_seconds, 25e-6)
    costs = found.device_link_costs()
    # One transfer at a time from each device.
    np.testing.assert_array_equal(costs.channel[0, 1:], [0, 0, 0])
    np.testing.assert_array_equal(costs.channel[1, [0, 2, 3]], [1, 1, 1])
    self.assertEqual(costs.bytes_per_second[2, 3], 7.6e9)

  def test_gpus_and_cpus(self):
    found = simulated_devices.parse('simulated:k80x2+cpu_core+v100')
    names = [name.rsplit(':', 2)[-2:] for name in found.topology().names]
    self.assertEqual(
      names, [['GPU', '0'], ['GPU', '1'], ['CPU', '0'], ['GPU', '2']]
    )
    costs = found.device_link_costs()
    self.assertEqual(costs.bytes_per_second[0, 2], 7.6e9)
    # A K80 and a V100 are connected through the host by both their links.
    self.assertEqual(costs.bytes_per_second[0, 3], 7.6e9)
    self.assertAlmostEqual(costs.message_seconds[0, 3], 25e-6 + 10e-6)
    # Host tensors need not move within a host.
    self.assertEqual(found.host_link_costs().bytes_per_second[0, 2], np.inf)

  def test_cpu_workers_keep_each_other_busy(self):
    found = simulated_devices.parse('simulated:cpu_corex2')
    for costs in (found.device_link_costs(), found.host_link_costs()):
      self.assertGreater(costs.send_seconds_per_message[0, 1], 0)
      self.assertEqual(costs.latency_seconds[1, 0], 6e-4)
      self.assertNotEqual(costs.channel[0, 1], costs.channel[1, 0])

  def test_a_file_with_a_device(self):
    file = self._file(_MINE)
    found = simulated_devices.parse(f'simulated:{file}x2+{file}')
    self.assertLen(found.descriptions, 3)
    self.assertEqual(found.descriptions[0].name, 'mine')
    # Through the host, twice its link.
    self.assertEqual(found.device_link_costs().latency_seconds[0, 2], 2e-3)

  def test_a_file_with_a_machine(self):
    file = self._file(
      {
        'devices': [{'device': 'v100', 'count': 2}, {'device': _MINE}],
        'links': [{'source': 0, 'target': 1, 'bytes_per_second': 5}],
      }
    )
    found = simulated_devices.parse(f'simulated:k80+{file}')
    self.assertLen(found.descriptions, 4)
    costs = found.device_link_costs()
    self.assertEqual(costs.bytes_per_second[1, 2], 5)
    self.assertEqual(costs.bytes_per_second[2, 1], 1.5e11)

  @parameterized.parameters(
    ('simulated:', 'names no simulated devices. Write it as'),
    ('local:2', 'names no simulated devices'),
    ('simulated:k81', "no simulated device 'k81'. Choose one of: a100"),
    ('simulated:k80x0', 'a number from 1 to 1024'),
    ('simulated:k80x4000', 'a number from 1 to 1024'),
    ('simulated:k80x900+k80x900', 'has 1800 devices'),
    ('simulated:k80+', "'' is not a device"),
    ('simulated:/nowhere/x.json', 'Cannot read the device file.*No such file'),
  )
  def test_mistakes(self, spec, message):
    with self.assertRaisesRegex(errors.UsageError, message):
      simulated_devices.parse(spec)

  @parameterized.parameters(
    ('{', 'is not JSON'),
    ('[]', 'mine has to be a JSON object'),
    ({'devices': [], 'wires': []}, "unknown key 'wires'"),
    ({'devices': []}, 'names no device'),
    ({'devices': ['k80']}, r'devices\[0\] is .k80.*has to be like'),
    ({'devices': [{'device': 'k80', 'count': 0}]}, 'count is 0'),
    ({'devices': [{'device': {}}]}, r'devices\[0\] lacks the key'),
    (
      {'devices': [{'device': 'k80'}], 'links': [{'source': 0, 'target': 1}]},
      'a link goes from 0 to 1',
    ),
    (
      {
        'devices': [{'device': 'k80', 'count': 2}],
        'links': [{'source': 0, 'target': 1}],
      },
      "a link lacks the key 'bytes_per_second'",
    ),
  )
  def test_mistakes_in_files(self, payload, message):
    file = self._file(payload)
    with self.assertRaisesRegex(errors.UsageError, message):
      simulated_devices.parse(f'simulated:{file}').topology()

  def test_a_machine_cannot_be_multiplied(self):
    file = self._file({'devices': [{'device': 'k80'}]})
    with self.assertRaisesRegex(errors.UsageError, 'a whole machine'):
      simulated_devices.parse(f'simulated:{file}x2')


if __name__ == '__main__':
  absltest.main()
