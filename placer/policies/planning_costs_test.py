import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import planning_costs
from placer.simulation import roofline
from placer.simulation import simulated_devices
from placer.simulation import simulator
from placer.testing import problems


class PlanningCostsTest(absltest.TestCase):
  def test_the_problems_own_costs_come_first(self):
    problem = problems.chain(3, devices=problems.topology(2, linked=True))
    costs = cost_model.build(problem.graph, problem.devices, np.ones(3))
    problem = dataclasses.replace(problem, costs=costs)
    self.assertIs(planning_costs.of_problem(problem), costs)

  def test_simulated_devices_have_their_description(self):
    devices = simulated_devices.parse('simulated:k80x2').topology()
    problem = problems.chain(3, devices=devices)
    expected = roofline.cost_model_of(problem.graph, devices)
    found = planning_costs.of_problem(problem)
    np.testing.assert_array_equal(found.op_seconds, expected.op_seconds)

  def test_links_are_assumed_where_they_were_not_measured(self):
    problem = problems.chain(2, flops=1.3e11, tensor_bytes=1_200_000)
    found = planning_costs.of_problem(problem)
    batch = simulator.simulate(problem, found, np.array([[0, 0], [0, 1]]))
    together, apart = batch.step_time_seconds
    # 1 s an op; 0.6 ms, 1 ms at 1.2 GB/s, 0.1 + 0.48 ms on each end.
    self.assertAlmostEqual(together, 2, delta=0.01)
    self.assertAlmostEqual(apart - together, 0.0016 + 2 * 0.00058, delta=1e-9)

  def test_a_gpu_is_faster_than_a_core_and_sends_by_itself(self):
    problem = problems.chain(2, devices=problems.topology(1, gpus=1))
    found = planning_costs.of_problem(problem)
    self.assertTrue((found.op_seconds[:, 1] < found.op_seconds[:, 0]).all())
    self.assertEqual(found.links.send_seconds_per_message[1, 0], 0)
    self.assertGreater(found.links.receive_seconds_per_message[1, 0], 0)


if __name__ == '__main__':
  absltest.main()
