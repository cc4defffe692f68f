import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import errors
from placer.core import measurement
from placer.devices import target
from placer.importers import cost_graph
from placer.importers import cost_graph_file
from placer.measurers import simulation_measurer
from placer.problems import cost_graph_problem
from placer.testing import shared_inputs


def _chain(**changes):
  """a -> b -> c: 1, 2, 4 ms on an accelerator, tenfold on a CPU.

  A tensor takes 0.5 ms to host memory or back; each op keeps 100 bytes.
  """
  seconds = np.array([1e-3, 2e-3, 4e-3])
  made = cost_graph.CostGraph(
    source='f.json',
    kind='dnn_partitioning',
    graph=cost_graph.make_graph(
      ['a', 'b', 'c'],
      ['Node'] * 3,
      [(0, 10), (1, 10), (2, 10)],
      [(0, 1, 0), (1, 2, 1)],
      [100, 100, 100],
    ),
    accelerator_seconds=seconds,
    cpu_seconds=10 * seconds,
    on_accelerator=np.ones(3, bool),
    colour=np.arange(3, dtype=np.int32),
    keeps_outputs=True,
    own=cost_graph.OwnDevices(2, 250, 8, np.full(3, 0.5e-3)),
  )
  return dataclasses.replace(made, **changes)


def _measure(problem, *candidates):
  with simulation_measurer.SimulationMeasurer() as measurer:
    return measurer.measure(problem, np.array(candidates, np.int32))


class OwnDevicesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    found = _chain()
    devices = cost_graph_problem.own_devices(found, 'auto')
    self.problem = cost_graph_problem.build(found, devices)

  def test_topology(self):
    devices = self.problem.devices
    self.assertEqual([d.type for d in devices.devices], ['GPU', 'GPU', 'CPU'])
    self.assertEqual(
      [d.memory_bytes for d in devices.devices], [250, 250, None]
    )
    self.assertTrue(devices.is_simulated)
    self.assertIn('nothing was run', devices.stands_for)
    self.assertLen(devices.links, 6)

  def test_times_by_hand(self):
    # Accelerator to accelerator 2 * 0.5 ms, to the CPU or from it 0.5 ms.
    results = _measure(
      self.problem, [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 0, 0], [0, 0, 2]
    )
    np.testing.assert_allclose(
      [r.step_time_seconds * 1e3 for r in results],
      [3 + 1 + 4, 7 + 2, 70, 10 + 0.5 + 6, 3 + 0.5 + 40],
      rtol=1e-6,
    )

  def test_an_accelerator_holds_the_sizes_of_its_ops(self):
    one, split = _measure(self.problem, [0, 0, 0], [0, 0, 1])
    self.assertIs(one.status, measurement.Status.OUT_OF_MEMORY)
    self.assertEqual(list(split.peak_memory_bytes.values()), [200, 100, 0])

  def test_a_cpu_runs_several_ops_at_once(self):
    found = _chain()
    loose = dataclasses.replace(
      found.graph,
      edge_source=np.zeros(0, np.int32),
      edge_target=np.zeros(0, np.int32),
      edge_tensor=np.zeros(0, np.int32),
      edge_is_back=np.zeros(0, bool),
    )
    problem = cost_graph_problem.build(
      dataclasses.replace(found, graph=loose), self.problem.devices
    )
    (result,) = _measure(problem, [2] * problem.num_groups)
    self.assertAlmostEqual(result.step_time_seconds, 0.04)

  def test_a_file_without_devices_says_what_to_pass(self):
    with self.assertRaisesRegex(errors.UsageError, 'simulated:v100x4'):
      cost_graph_problem.own_devices(_chain(own=None), 'auto')

  def test_colours_and_what_accelerators_cannot_run(self):
    found = _chain(
      colour=np.array([0, 1, 0], np.int32),
      on_accelerator=np.array([True, True, False]),
    )
    problem = cost_graph_problem.build(found, self.problem.devices)
    np.testing.assert_array_equal(problem.op_group, [0, 1, 0])
    np.testing.assert_array_equal(
      problem.allowed, [[False, False, True], [True, True, True]]
    )
    self.assertEqual(problem.group_names, ('c', 'b'))
    with self.assertRaisesRegex(ValueError, 'accelerator cannot run'):
      problem.check(np.array([0, 0]))
    with self.assertRaises(errors.NoFeasiblePlacementError):
      cost_graph_problem.build(found, target.resolve('simulated:v100x2'))


class SimulatedDevicesTest(absltest.TestCase):
  def test_times_of_the_file_with_links_and_memory_of_the_devices(self):
    devices = target.resolve('simulated:k80x2+cpu_core')
    problem = cost_graph_problem.build(_chain(), devices)
    one, split, cpu = _measure(problem, [0, 0, 0], [0, 0, 1], [2, 2, 2])
    self.assertAlmostEqual(one.step_time_seconds, 0.007)
    self.assertAlmostEqual(cpu.step_time_seconds, 0.07)
    link = problem.costs.links
    self.assertAlmostEqual(
      split.step_time_seconds,
      0.007
      + link.message_seconds[0, 1]
      + link.latency_seconds[0, 1]
      + 10 / link.bytes_per_second[0, 1],
    )
    np.testing.assert_array_equal(
      problem.costs.memory_bytes, [d.memory_bytes for d in devices.devices]
    )

  def test_tensors_take_memory_where_the_file_does_not_count_them(self):
    devices = target.resolve('simulated:k80x2')
    for keeps_outputs, size in ((False, 10), (True, 0)):
      found = _chain(keeps_outputs=keeps_outputs)
      problem = cost_graph_problem.build(found, devices)
      self.assertEqual(problem.costs.resident_bytes.tolist(), [size] * 3)


class SharedWorkloadsTest(absltest.TestCase):
  def test_each_becomes_a_problem_that_runs_somehow(self):
    for path in sorted(shared_inputs.workloads().glob('*/*.*')):
      with self.subTest(path.name):
        found = cost_graph_file.read(path)
        if found.own is not None:
          devices = cost_graph_problem.own_devices(found, 'auto')
        else:
          devices = target.resolve('simulated:a100x4')
        problem = cost_graph_problem.build(found, devices)
        last = len(devices) - 1  # the CPU, or the last GPU: no limit binds
        (result,) = _measure(problem, [last] * problem.num_groups)
        self.assertTrue(result.ok, result.reason)
        if found.own is None:
          self.assertAlmostEqual(
            result.step_time_seconds, found.accelerator_seconds.sum()
          )


if __name__ == '__main__':
  absltest.main()
