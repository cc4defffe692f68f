import hypothesis
import numpy as np
from absl.testing import absltest
from hypothesis import strategies as st

from placer.core import cost_model
from placer.policies import assignment_bound
from placer.policies import local_search
from placer.policies import planning_graph
from placer.policies import window_bounds
from placer.simulation import reference
from placer.simulation import simulator
from placer.testing import problems
from placer.testing import random_steps

_FEW = assignment_bound.SearchLimits(nodes=3)


def _search(
  problem, costs, known=np.inf, limits=assignment_bound.SearchLimits()
):
  graph = planning_graph.build(problem, costs)
  return assignment_bound.search(
    graph, window_bounds.windows(graph), costs.memory_bytes, known, limits
  )


class AssignmentBoundTest(absltest.TestCase):
  @hypothesis.given(
    ops=st.integers(1, 7),
    devices=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
    plain=st.booleans(),
    few=st.booleans(),
    is_known=st.booleans(),
  )
  @hypothesis.settings(max_examples=500, deadline=None, derandomize=True)
  def test_no_placement_that_runs_is_faster(
    self, ops, devices, seed, plain, few, is_known
  ):
    step = random_steps.make(ops, devices, seed=seed, plain=plain)
    states = local_search.all_states(step.problem.allowed)
    batch = simulator.simulate(step.problem, step.costs, states)
    hypothesis.assume(batch.feasible.any())
    # From a bad placement, so that the bound is not that of the known step.
    known = np.nanmax(batch.step_time_seconds) if is_known else np.inf
    limits = _FEW if few else assignment_bound.SearchLimits(nodes=3_000)
    found = _search(step.problem, step.costs, known, limits)
    self.assertLessEqual(found, np.nanmin(batch.step_time_seconds))
    windows = window_bounds.windows(
      planning_graph.build(step.problem, step.costs)
    )
    self.assertGreaterEqual(found, windows.seconds)

  @hypothesis.given(
    ops=st.integers(1, 5),
    devices=st.integers(1, 2),
    seed=st.integers(0, 2**32 - 1),
  )
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_the_reference_simulator_agrees(self, ops, devices, seed):
    step = random_steps.make(ops, devices, seed=seed)
    slow = reference.Reference(step.problem, step.costs)
    schedules = [
      slow.schedule(candidate)
      for candidate in local_search.all_states(step.problem.allowed)
    ]
    least = min(
      (schedule.unbounded_seconds for schedule in schedules if schedule.ok),
      default=np.inf,
    )
    self.assertLessEqual(_search(step.problem, step.costs), least)

  def test_traffic_counts(self):
    # Eight ops read four others each, of which each fits to two: whatever is
    # not on one device with them has to go through a channel.
    problem = problems.build(
      [f'op_{i}' for i in range(12)],
      [(i, j) for i in range(4) for j in range(4, 12)],
      tensor_bytes=1_200_000_000,
      devices=problems.topology(linked=True),
    )
    costs = cost_model.build(problem.graph, problem.devices, np.full(12, 0.3))
    states = local_search.all_states(problem.allowed)
    batch = simulator.simulate(problem, costs, states)
    best = batch.step_time_seconds.min()
    graph = planning_graph.build(problem, costs)
    windows = window_bounds.windows(graph)
    self.assertGreater(_search(problem, costs, best), 1.1 * windows.seconds)

  def test_what_groups_keep_has_to_fit(self):
    step = random_steps.make(6, 2, seed=1)
    costs = step.costs
    graph = planning_graph.build(step.problem, costs)
    free = assignment_bound.search(
      graph, window_bounds.windows(graph), np.full(2, 10**9)
    )
    none = assignment_bound.search(
      graph, window_bounds.windows(graph), np.full(2, -1)
    )
    self.assertLess(free, 1e9)
    self.assertGreater(none, 1e9)

  def test_devices_that_are_alike_are_exchanged_once(self):
    problem = problems.two_chains(4, devices=problems.topology(3, linked=True))
    seconds = np.array([[1.0, 1.0, 2.0]] * 8)
    costs = cost_model.build(problem.graph, problem.devices, seconds)
    graph = planning_graph.build(problem, costs)
    self.assertEqual(
      assignment_bound._alike(graph, costs.memory_bytes), [[], [0], []]
    )
    self.assertAlmostEqual(_search(problem, costs, 4.0), 4, delta=1e-6)

  def test_equal_searches_give_equal_bounds_and_more_nodes_no_lower_ones(self):
    problem = problems.layered_random(
      8, 4, seed=3, devices=problems.topology(3, linked=True)
    )
    costs = cost_model.build(
      problem.graph, problem.devices, problem.graph.flops / 1e12
    )
    bounds = [
      _search(problem, costs, limits=assignment_bound.SearchLimits(nodes=nodes))
      for nodes in (5, 5, 50, 500)
    ]
    self.assertEqual(bounds[0], bounds[1])
    self.assertEqual(bounds, sorted(bounds))


if __name__ == '__main__':
  absltest.main()
