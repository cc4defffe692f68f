import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import planning_graph
from placer.simulation import simulator
from placer.testing import problems
from placer.testing import random_steps


class PlanningGraphTest(absltest.TestCase):
  @hypothesis.given(step=random_steps.steps(max_ops=2, max_devices=3))
  @hypothesis.settings(max_examples=100, deadline=None, derandomize=True)
  def test_times_are_the_simulators(self, step):
    # One op, or two with at most a handful of signals between them, to the end.
    costs = dataclasses.replace(
      step.costs, slice_seconds=np.full(len(step.problem.devices), np.inf)
    )
    graph = planning_graph.build(step.problem, costs)
    if len(graph) != 2 or step.problem.num_groups != 2:
      return
    for candidate in step.candidates:
      schedule = simulator.schedule(step.problem, costs, candidate)
      rows = np.arange(2)
      held = schedule.op_end_seconds - schedule.op_start_seconds
      np.testing.assert_allclose(
        held, graph.hold_seconds[rows, candidate], atol=1e-12
      )
      if len(graph.signals) == 1 and candidate[0] != candidate[1]:
        waited = schedule.op_start_seconds[1] - schedule.op_end_seconds[0]
        delay = graph.delay_seconds[0, candidate[0], candidate[1]]
        self.assertGreaterEqual(waited, delay - 1e-9)
        if not graph.gap_seconds.any():
          self.assertAlmostEqual(waited, delay)

  def test_rows_are_by_op_and_by_signal(self):
    problem = problems.modules(1, width=2, length=1)
    problem = dataclasses.replace(
      problem, devices=problems.topology(2, linked=True)
    )
    costs = cost_model.build(problem.graph, problem.devices, np.ones(4))
    graph = planning_graph.build(problem, costs)
    # fork -> two branches -> join: three signals.
    self.assertEqual(graph.inputs, ((), (0,), (0,), (1, 2)))
    self.assertEqual(graph.outputs, ((0,), (1,), (2,), ()))
    self.assertEqual(graph.readers, ((1, 2), (3,), (3,)))
    np.testing.assert_allclose(
      graph.delay_seconds[0], (0.0006 + 1e6 / 1.2e9) * (1 - np.eye(2))
    )

  def test_a_group_may_not_be_where_an_op_of_it_cannot_run(self):
    problem = problems.chain(
      3, op_group=[0, 1, 0], devices=problems.topology(2, linked=True)
    )
    seconds = np.array([[1, 1], [np.inf, np.inf], [np.inf, 1]])
    costs = cost_model.build(problem.graph, problem.devices, seconds)
    graph = planning_graph.build(problem, costs)
    # Group 1 runs nowhere, so its own row stays.
    np.testing.assert_array_equal(graph.allowed, [[0, 1], [1, 1]])
    np.testing.assert_array_equal(graph.op_allowed[2], [0, 1])


if __name__ == '__main__':
  absltest.main()
