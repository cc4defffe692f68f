from absl.testing import absltest

from placer.core import device
from placer.devices import link_pairs
from placer.devices import target


class LinkPairsTest(absltest.TestCase):
  def test_up_to_four_devices_all_pairs_are_measured(self):
    for count, pairs in ((1, 0), (2, 2), (4, 12)):
      topology = target.resolve(f'logical:{count}')
      self.assertLen(link_pairs.to_measure(topology), pairs)

  def test_of_many_devices_some_pairs_stand_for_the_rest(self):
    topology = target.resolve('logical:16')
    pairs = link_pairs.to_measure(topology)
    self.assertLen(pairs, 12)
    measured = [
      device.Link(*pair, 1e-3 * (1 + i), 1e9, ((4, 1e-3),), 1e-5 * i, 1e-10)
      for i, pair in enumerate(pairs)
    ]
    links = link_pairs.complete(topology, measured)
    self.assertLen(links, 16 * 15)
    self.assertContainsSubset(measured, links)
    other = next(link for link in links if not link.samples)
    self.assertAlmostEqual(other.latency_seconds, 6.5e-3)
    self.assertAlmostEqual(other.load_seconds, 5.5e-5)
    self.assertEqual(other.load_seconds_per_byte, 1e-10)

  def test_each_kind_of_pair_is_measured(self):
    stem = '/job:localhost/replica:0/task:0/device:'
    topology = device.DeviceTopology(
      'auto',
      tuple(device.Device(stem + name) for name in ('GPU:0', 'GPU:1', 'CPU:0')),
    )
    self.assertLen(link_pairs.to_measure(topology), 6)


if __name__ == '__main__':
  absltest.main()
