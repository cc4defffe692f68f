import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import errors
from placer.core import link_costs
from placer.testing import problems


class LinkCostsTest(absltest.TestCase):
  def test_of_measured_links(self):
    devices = problems.topology(3, linked=True)
    links = tuple(
      dataclasses.replace(
        link, load_seconds=1e-4 * link.source, load_seconds_per_byte=2e-10
      )
      for link in devices.links
    )
    found = link_costs.of_topology(dataclasses.replace(devices, links=links))
    self.assertEqual(found.latency_seconds[0, 2], 0.0006)
    self.assertEqual(found.send_seconds_per_message[1, 0], 1e-4)
    self.assertEqual(found.receive_seconds_per_message[2, 0], 2e-4)
    self.assertEqual(found.send_seconds_per_message[0, 1], 0.0)
    self.assertEqual(found.send_seconds_per_byte[0, 1], 2e-10)
    self.assertEqual(found.receive_seconds_per_byte[1, 0], 2e-10)
    self.assertLen(set(found.channel.ravel().tolist()), 9)
    self.assertEqual(found.num_channels, 9)

  def test_what_the_ends_do_is_a_part_of_the_measured_time(self):
    devices = problems.topology(2, linked=True)
    for message, byte in ((1e-4, 2e-10), (1.0, 1e-9)):
      links = tuple(
        dataclasses.replace(
          link, load_seconds=message, load_seconds_per_byte=byte
        )
        for link in devices.links
      )
      found = link_costs.of_topology(dataclasses.replace(devices, links=links))
      self.assertAlmostEqual(
        found.send_seconds_per_message[0, 1]
        + found.latency_seconds[0, 1]
        + found.receive_seconds_per_message[0, 1],
        links[0].latency_seconds,
      )
      self.assertAlmostEqual(
        found.send_seconds_per_byte[0, 1]
        + 1 / found.bytes_per_second[0, 1]
        + found.receive_seconds_per_byte[0, 1],
        1 / links[0].bytes_per_second,
        delta=1e-18,
      )

  def test_a_missing_link_is_named(self):
    with self.assertRaisesRegex(
      errors.UsageError, 'task:0/device:CPU:0 to .*task:1.*local:2 first'
    ):
      link_costs.of_topology(problems.topology(2))

  def test_one_device_needs_no_links(self):
    found = link_costs.of_topology(problems.topology(1))
    self.assertEqual(found.channel.shape, (1, 1))

  def test_one_channel_per_source(self):
    found = link_costs.of_topology(problems.topology(3, linked=True))
    found = found.one_channel_per_source()
    np.testing.assert_array_equal(found.channel, [[0] * 3, [1] * 3, [2] * 3])

  def test_scaled(self):
    found = link_costs.of_topology(problems.topology(2, linked=True))
    twice = found.scaled(2.0)
    self.assertEqual(twice.latency_seconds[0, 1], 0.0012)
    self.assertEqual(twice.bytes_per_second[0, 1], 0.6e9)
    np.testing.assert_array_equal(twice.channel, found.channel)

  def test_invariants(self):
    found = link_costs.of_topology(problems.topology(2, linked=True))
    for changes, message in (
      ({'latency_seconds': np.zeros(2)}, 'latency_seconds has shape'),
      ({'message_seconds': np.full((2, 2), -1.0)}, 'negative value'),
      ({'message_seconds': np.full((2, 2), np.nan)}, 'negative value, or NaN'),
      ({'bytes_per_second': np.zeros((2, 2))}, 'positive, or inf'),
      ({'channel': np.zeros((2, 3), np.int32)}, r'needs \[D, D\]'),
    ):
      with self.assertRaisesRegex(ValueError, message):
        dataclasses.replace(found, **changes)


if __name__ == '__main__':
  absltest.main()
