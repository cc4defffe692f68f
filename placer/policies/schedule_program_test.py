import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest
from hypothesis import strategies as st

from placer.core import cost_model
from placer.policies import local_search
from placer.policies import planning_graph
from placer.policies import schedule_program
from placer.policies import window_bounds
from placer.simulation import simulator
from placer.testing import problems
from placer.testing import random_steps

_LIMITS = schedule_program.SolverLimits(seconds=20, work=1.0)


def _solve(problem, costs, known, limits=_LIMITS):
  graph = planning_graph.build(problem, costs)
  batch = simulator.simulate(problem, costs, known[np.newaxis])
  return schedule_program.solve(
    graph,
    window_bounds.windows(graph),
    costs.memory_bytes,
    known,
    float(batch.unbounded_seconds[0]),
    limits,
  )


class ScheduleProgramTest(absltest.TestCase):
  @hypothesis.given(
    ops=st.integers(1, 6),
    devices=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
    plain=st.booleans(),
    channels=st.booleans(),
  )
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_no_placement_is_faster(self, ops, devices, seed, plain, channels):
    step = random_steps.make(ops, devices, seed=seed, plain=plain)
    states = local_search.all_states(step.problem.allowed)
    batch = simulator.simulate(step.problem, step.costs, states)
    hypothesis.assume(batch.feasible.any())
    # From a bad placement, so that the bound is not that of the known step.
    worst = states[batch.feasible][
      np.argmax(batch.unbounded_seconds[batch.feasible])
    ]
    limits = dataclasses.replace(
      _LIMITS, most_transfers=10**6 if channels else 0
    )
    found = _solve(step.problem, step.costs, worst, limits)
    least = float(np.nanmin(batch.step_time_seconds))
    self.assertLessEqual(found.bound_seconds, least * (1 + 1e-12))
    for candidate in found.candidates:
      step.problem.check(candidate)

  def test_splits_two_chains(self):
    problem = problems.two_chains(4, devices=problems.topology(linked=True))
    costs = cost_model.build(problem.graph, problem.devices, np.ones(8))
    found = _solve(problem, costs, np.zeros(8, np.int32))
    self.assertTrue(found.is_optimal)
    self.assertAlmostEqual(found.bound_seconds, 4, delta=1e-3)
    best = found.candidates[-1]
    self.assertLen(set(best[:4].tolist()), 1)
    self.assertNotEqual(best[0], best[4])

  def test_what_groups_keep_has_to_fit(self):
    problem = problems.chain(4, devices=problems.topology(linked=True))
    problem = dataclasses.replace(
      problem,
      graph=dataclasses.replace(problem.graph, persistent_bytes=np.full(4, 10)),
    )
    costs = cost_model.build(problem.graph, problem.devices, np.ones(4))
    costs = dataclasses.replace(costs, memory_bytes=np.array([20, 20]))
    found = _solve(problem, costs, np.array([0, 1, 0, 1], np.int32))
    self.assertGreater(found.bound_seconds, 4.0005)
    self.assertEqual(found.candidates[-1].sum(), 2)

  def test_equal_limits_give_equal_answers(self):
    problem = problems.layered_random(5, 4, seed=2, devices=3)
    problem = dataclasses.replace(
      problem, devices=problems.topology(3, linked=True)
    )
    costs = cost_model.build(
      problem.graph, problem.devices, problem.graph.flops / 1e9
    )
    known = np.zeros(problem.num_groups, np.int32)
    one, other = (_solve(problem, costs, known) for _ in range(2))
    np.testing.assert_array_equal(one.candidates, other.candidates)
    self.assertEqual(one.bound_seconds, other.bound_seconds)


if __name__ == '__main__':
  absltest.main()
