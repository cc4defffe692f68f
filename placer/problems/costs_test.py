import dataclasses
import time

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import device
from placer.devices import target
from placer.importers import base
from placer.problems import build
from placer.problems import costs
from placer.simulation import device_description
from placer.simulation import roofline
from placer.testing import graphs
from placer.testing import problems


class CostsTest(parameterized.TestCase):
  def test_simulated_devices_have_their_descriptions(self):
    devices = target.resolve('simulated:k80+cpu_core')
    graph = problems.chain(4).graph
    made = costs.analytic(graph, devices)
    for column, name in enumerate(('k80', 'cpu_core')):
      kind = device_description.load(name)
      np.testing.assert_array_equal(
        made.op_seconds[:, column], roofline.roofline(graph, kind)
      )
      self.assertEqual(made.memory_bytes[column], kind.memory_bytes)

  def test_real_workers_are_like_a_core_with_the_measured_links(self):
    graph = problems.chain(4).graph
    links = (device.Link(0, 1, 6e-4, 1.2e9, (), 2e-5, 3e-10),)
    devices = dataclasses.replace(problems.topology(2), links=links)
    made = costs.analytic(graph, devices)
    core = device_description.load('cpu_core')
    np.testing.assert_array_equal(
      made.op_seconds[:, 1], roofline.roofline(graph, core)
    )
    for found in (made.links, made.host_links):
      # The measured times, less what the two ends do in them.
      self.assertAlmostEqual(found.latency_seconds[0, 1], 6e-4 - 2 * 2e-5)
      wire = 1 / 1.2e9 - 2 * 3e-10
      self.assertAlmostEqual(found.bytes_per_second[0, 1] * wire, 1.0)
      self.assertEqual(found.message_seconds[0, 1], 0.0)
      self.assertEqual(found.send_seconds_per_message[0, 1], 2e-5)
      self.assertEqual(found.receive_seconds_per_message[0, 1], 2e-5)
      self.assertEqual(found.send_seconds_per_byte[0, 1], 3e-10)
      self.assertEqual(found.receive_seconds_per_byte[0, 1], 3e-10)

  def test_links_that_were_not_measured_are_as_described(self):
    made = costs.analytic(problems.chain(2).graph, problems.topology(2))
    link = device_description.load('cpu_core').peer_link
    self.assertEqual(made.links.latency_seconds[0, 1], link.latency_seconds)

  @parameterized.parameters(
    ('CPU:0', '16 cores of some A100 host', 'cpu_core'),
    ('GPU:0', 'NVIDIA A100-SXM4-40GB', 'a100'),
    ('GPU:0', 'Tesla K80', 'k80'),
    ('GPU:0', 'NVIDIA H100 80GB HBM3', 'h100'),
    ('GPU:0', 'NVIDIA GeForce RTX 4090', 'v100'),
  )
  def test_likeness(self, name, description, expected):
    one = device.Device(device.canonical(name), None, description)
    self.assertEqual(costs.likeness(one), expected)

  def test_build_gives_costs_and_the_same_fingerprint(self):
    path = self.create_tempfile(
      'fork.pb', content=graphs.fork_join().SerializeToString(), mode='wb'
    ).full_path
    problem = build.build(base.load(path), problems.topology(2))
    self.assertEqual(
      problem.costs.op_seconds.shape, (len(problem.graph), len(problem.devices))
    )
    without = dataclasses.replace(problem, costs=None)
    self.assertEqual(problem.fingerprint, without.fingerprint)

  def test_large_graphs_cost_little_time(self):
    problem = problems.layered_random(9000, 5, devices=4)
    self.assertGreater(len(problem.graph), 20_000)
    start = time.process_time()
    costs.analytic(problem.graph, problem.devices)
    self.assertLess(time.process_time() - start, 1.0)


if __name__ == '__main__':
  absltest.main()
