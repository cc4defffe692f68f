from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.devices import memory_limit
from placer.devices import target


class MemoryLimitTest(parameterized.TestCase):
  @parameterized.parameters(
    ('2GiB', 2 << 30),
    ('512MB', 512_000_000),
    ('1.5g', 3 << 29),
    ('100', 100),
    ('64 kib', 1 << 16),
  )
  def test_sizes(self, text, expected):
    self.assertEqual(memory_limit.parse_size(text), expected)

  @parameterized.parameters('', 'much', '0', '-1GiB', '1PiB', 'GiB')
  def test_bad_sizes_show_the_forms(self, text):
    with self.assertRaisesRegex(errors.UsageError, '2GiB'):
      memory_limit.parse_size(text)

  def test_one_size_is_for_all(self):
    topology = target.resolve('logical:2', memory_limit='1MiB')
    self.assertEqual([d.memory_bytes for d in topology.devices], [1 << 20] * 2)

  def test_each_device_has_its_own(self):
    topology = target.resolve('logical:3', memory_limit='CPU:0=1MiB,cpu:2=5')
    self.assertEqual(
      [d.memory_bytes for d in topology.devices], [1 << 20, None, 5]
    )
    self.assertEqual(
      target.layout(topology).memory_limits,
      {topology.names[0]: 1 << 20, topology.names[2]: 5},
    )

  def test_unknown_device_lists_the_devices(self):
    with self.assertRaisesRegex(errors.UsageError, 'device:CPU:1'):
      target.resolve('logical:2', memory_limit='GPU:0=1MiB')


if __name__ == '__main__':
  absltest.main()
