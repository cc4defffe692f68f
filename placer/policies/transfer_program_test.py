import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import planning_graph
from placer.policies import schedule_program
from placer.policies import window_bounds
from placer.simulation import simulator
from placer.testing import problems


def _solve(problem, costs, **limits):
  """Proves the step of the only placement there is."""
  known = problem.allowed.argmax(axis=1).astype(np.int32)
  graph = planning_graph.build(problem, costs)
  batch = simulator.simulate(problem, costs, known[np.newaxis])
  return schedule_program.solve(
    graph,
    window_bounds.windows(graph),
    costs.memory_bytes,
    known,
    float(batch.unbounded_seconds[0]),
    schedule_program.SolverLimits(seconds=20, work=1.0, **limits),
  )


class TransferProgramTest(absltest.TestCase):
  def test_transfers_wait_for_their_channel(self):
    # One op feeds three on the other device; each tensor takes 1 s.
    allowed = np.array([[1, 0]] + [[0, 1]] * 3, bool)
    problem = problems.build(
      ['a', 'b', 'c', 'd'],
      [(0, 1), (0, 2), (0, 3)],
      allowed=allowed,
      devices=problems.topology(linked=True),
    )
    graph = dataclasses.replace(
      problem.graph,
      tensor_source=np.zeros(3, np.int32),
      tensor_bytes=np.full(3, 1_200_000_000),
      tensor_shape_known=np.ones(3, bool),
      edge_tensor=np.arange(3, dtype=np.int32),
    )
    problem = dataclasses.replace(problem, graph=graph)
    costs = cost_model.build(graph, problem.devices, np.ones(4))
    found = _solve(problem, costs)
    self.assertAlmostEqual(found.bound_seconds, 1 + 3 + 0.0006 + 1, delta=1e-3)
    # Without channels all three are sent at once.
    found = _solve(problem, costs, most_transfers=0)
    self.assertAlmostEqual(found.bound_seconds, 1 + 1 + 0.0006 + 3, delta=1e-3)


if __name__ == '__main__':
  absltest.main()
