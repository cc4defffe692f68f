import json
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.simulation import device_description

_LINK = {'bytes_per_second': 1e9}
_DEVICE = {
  'device_type': 'GPU',
  'flops_per_second': {'float32': 1e12},
  'memory_bytes_per_second': 1e11,
  'host_link': _LINK,
}


class DeviceDescriptionTest(parameterized.TestCase):
  def test_every_kind_can_be_loaded_and_names_its_sources(self):
    self.assertContainsSubset(
      ('a100', 'cpu_core', 'h100', 'k80', 'v100'), device_description.names()
    )
    for name in device_description.names():
      with self.subTest(name):
        kind = device_description.load(name)
        self.assertIn('float32', kind.flops_per_second)
        self.assertNotEmpty(kind.summary)
        for key in (
          'flops_per_second',
          'memory_bytes_per_second',
          'memory_bytes',
          'peer_link',
          'efficiency',
        ):
          self.assertIn(key, kind.sources)
        if kind.op_gap_seconds:
          self.assertIn('op_gap_seconds', kind.sources)

  def test_files_are_as_json_writes_them(self):
    folder = pathlib.Path(device_description.__file__).parent / 'devices'
    for file in folder.glob('*.json'):
      text = file.read_text()
      self.assertEqual(text, json.dumps(json.loads(text), indent=2) + '\n')

  def test_the_k80_is_placetos(self):
    kind = device_description.load('k80')
    self.assertEqual(kind.op_gap_seconds, 5.7e-6)
    self.assertEqual(kind.peer_link.message_seconds, 25e-6)
    self.assertEqual(kind.peer_link.bytes_per_second, 7.6e9)
    self.assertEqual(kind.peer_link.channel, 'source')
    self.assertEqual(kind.memory_bytes, 10_700_000_000)

  def test_defaults(self):
    kind = device_description.from_json(_DEVICE, 'mine')
    self.assertEqual(kind.name, 'mine')
    self.assertEqual(kind.efficiency, 1.0)
    self.assertEqual(kind.concurrency, 1)
    self.assertIsNone(kind.memory_bytes)
    self.assertIsNone(kind.peer_link)
    self.assertEqual(kind.host_link.latency_seconds, 0.0)

  @parameterized.parameters(
    ([], 'has to be a JSON object with the keys'),
    ({'speed': 1}, "unknown key 'speed'.*lacks the key 'device_type'"),
    ({**_DEVICE, 'speed': 1}, "unknown key 'speed'. The keys are: device_type"),
    ({**_DEVICE, 'device_type': 'TPU'}, "'TPU', but has to be CPU or GPU"),
    ({**_DEVICE, 'flops_per_second': 1e12}, 'a rate for each dtype'),
    ({**_DEVICE, 'flops_per_second': {'float32': 0}}, 'a number above 0'),
    ({**_DEVICE, 'memory_bytes_per_second': '1'}, 'a number above 0'),
    ({**_DEVICE, 'op_gap_seconds': -1}, 'a number of at least 0'),
    ({**_DEVICE, 'op_gap_seconds': True}, 'a number of at least 0'),
    ({**_DEVICE, 'efficiency': 2}, 'up to 1'),
    ({**_DEVICE, 'memory_bytes': 1.5}, 'a whole number'),
    ({**_DEVICE, 'concurrency': 0}, 'a whole number'),
    ({**_DEVICE, 'host_link': None}, 'needs "peer_link", "host_link"'),
    ({**_DEVICE, 'host_link': {}}, "host_link lacks the key 'bytes_per_sec"),
    ({**_DEVICE, 'host_link': {**_LINK, 'channel': 1}}, 'link or source'),
    ({**_DEVICE, 'peer_link': {'bytes_per_second': 0}}, 'peer_link: bytes'),
  )
  def test_mistakes(self, payload, message):
    with self.assertRaisesRegex(errors.UsageError, message):
      device_description.from_json(payload, 'mine')

  def test_unknown_kind(self):
    with self.assertRaisesRegex(errors.UsageError, "'tpu'.*a100, cpu_core"):
      device_description.load('tpu')


if __name__ == '__main__':
  absltest.main()
