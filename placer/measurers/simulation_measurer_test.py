import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.core import device
from placer.core import measurement
from placer.measurers import measurer_contract
from placer.measurers import simulation_measurer
from placer.simulation import simulator
from placer.testing import problems


def _problem(memory_bytes=None, op_seconds=1e-3):
  """Two chains of four ops of 1 ms on two devices, 1 MB a tensor."""
  topology = problems.topology(2, linked=True)
  topology = dataclasses.replace(
    topology,
    devices=tuple(
      device.Device(name, memory_bytes=memory_bytes) for name in topology.names
    ),
  )
  problem = problems.two_chains(4, devices=topology)
  seconds = np.full(len(problem.graph), op_seconds)
  return dataclasses.replace(
    problem, costs=cost_model.build(problem.graph, topology, seconds)
  )


class ContractTest(measurer_contract.MeasurerContract, absltest.TestCase):
  def make(self):
    return simulation_measurer.SimulationMeasurer(), _problem()


class SimulationMeasurerTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.measurer = simulation_measurer.SimulationMeasurer()
    self.one = np.zeros(8, np.int32)
    self.split = np.repeat(np.arange(2), 4).astype(np.int32)

  def test_tells_what_the_simulator_finds(self):
    problem = _problem()
    rng = np.random.default_rng(0)
    candidates = rng.integers(2, size=(20, 8)).astype(np.int32)
    batch = simulator.simulate(problem, problem.costs, candidates)
    results = self.measurer.measure(problem, candidates)
    np.testing.assert_array_equal(
      [r.step_time_seconds for r in results], batch.step_time_seconds
    )
    for result, peaks in zip(results, batch.peak_bytes, strict=True):
      self.assertEqual(
        result.peak_memory_bytes,
        dict(zip(problem.devices.names, peaks, strict=True)),
      )

  def test_by_hand(self):
    one, split = self.measurer.measure(
      _problem(), np.stack([self.one, self.split]), reference=self.one, steps=2
    )
    np.testing.assert_allclose(one.step_times_seconds, 0.008)
    np.testing.assert_allclose(split.step_times_seconds, [0.004, 0.004])
    np.testing.assert_allclose(split.reference_times_seconds, [0.008, 0.008])

  def test_out_of_memory_names_the_device(self):
    # A running op holds what it reads and what it makes: 2 MB.
    problem = _problem(memory_bytes=1_500_000)
    (result,) = self.measurer.measure(problem, self.one[np.newaxis])
    self.assertIs(result.status, measurement.Status.OUT_OF_MEMORY)
    self.assertIn(problem.devices.names[0], result.reason)
    self.assertNotIn(problem.devices.names[1], result.reason)
    self.assertEqual(result.peak_memory_bytes[problem.devices.names[1]], 0)

  def test_a_reference_that_does_not_run_gives_no_pairs(self):
    problem = _problem(memory_bytes=2_000_000)
    cross = np.tile([0, 1], 4).astype(np.int32)
    one, other = self.measurer.measure(
      problem, np.stack([self.split, cross]), reference=cross
    )
    self.assertFalse(other.ok)
    self.assertTrue(one.ok)
    self.assertEmpty(one.reference_times_seconds)

  def test_infinite_cost_is_an_unsupported_op(self):
    (result,) = self.measurer.measure(
      _problem(op_seconds=np.inf), self.one[np.newaxis]
    )
    self.assertIs(result.status, measurement.Status.UNSUPPORTED_OP)

  def test_other_costs_of_the_same_problem_count(self):
    problem = _problem()
    slower = dataclasses.replace(problem, costs=problem.costs.scaled(3.0))
    self.assertEqual(problem.fingerprint, slower.fingerprint)
    (first,) = self.measurer.measure(problem, self.one[np.newaxis])
    (second,) = self.measurer.measure(slower, self.one[np.newaxis])
    self.assertAlmostEqual(
      second.step_time_seconds, 3 * first.step_time_seconds
    )

  def test_a_problem_without_costs_is_the_callers_fault(self):
    problem = dataclasses.replace(_problem(), costs=None)
    with self.assertRaisesRegex(ValueError, 'without costs'):
      self.measurer.measure(problem, self.one[np.newaxis])

  def test_an_empty_graph_takes_no_time_but_runs(self):
    problem = problems.build([], [], devices=problems.topology(2, linked=True))
    problem = dataclasses.replace(
      problem,
      costs=cost_model.build(problem.graph, problem.devices, np.zeros(0)),
    )
    (result,) = self.measurer.measure(problem, np.zeros((1, 0), np.int32))
    self.assertTrue(result.ok)
    self.assertLess(result.step_time_seconds, 1e-9)


if __name__ == '__main__':
  absltest.main()
