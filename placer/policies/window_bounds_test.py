import hypothesis
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from hypothesis import strategies as st

from placer.core import cost_model
from placer.core import link_costs
from placer.policies import local_search
from placer.policies import planning_graph
from placer.policies import window_bounds
from placer.simulation import simulator
from placer.testing import problems
from placer.testing import random_steps


def _seconds(problem, costs) -> float:
  graph = planning_graph.build(problem, costs)
  return window_bounds.windows(graph).seconds


def _least(problem, costs) -> float:
  """The shortest step of all placements, memory left out."""
  states = local_search.all_states(problem.allowed)
  batch = simulator.simulate(problem, costs, states)
  return float(batch.unbounded_seconds.min(initial=np.inf))


def _linked(problem, seconds, latency=0.0):
  devices = problems.topology(len(problem.devices), linked=True)
  links = link_costs.of_topology(devices)
  links = link_costs.LinkCosts(
    **{
      **vars(links),
      'latency_seconds': np.full(links.channel.shape, latency),
      'bytes_per_second': np.full(links.channel.shape, np.inf),
    }
  )
  return cost_model.build(problem.graph, problem.devices, seconds, links=links)


class WindowBoundsTest(parameterized.TestCase):
  @hypothesis.given(
    ops=st.integers(1, 7),
    devices=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
    plain=st.booleans(),
  )
  @hypothesis.settings(max_examples=300, deadline=None, derandomize=True)
  def test_no_placement_is_faster(self, ops, devices, seed, plain):
    step = random_steps.make(ops, devices, seed=seed, plain=plain)
    found = _seconds(step.problem, step.costs)
    self.assertLessEqual(found, _least(step.problem, step.costs))

  def test_without_time_paths_and_work_are_left(self):
    problem = problems.modules(2, width=4, length=1)
    costs = _linked(problem, np.ones(len(problem.graph)))
    graph = planning_graph.build(problem, costs)
    quick = window_bounds.windows(graph, 0.0)
    slow = window_bounds.windows(graph)
    self.assertGreaterEqual(quick.seconds, 11 / 2)
    self.assertLess(quick.seconds, slow.seconds)
    self.assertEqual(slow.method, 'windows')

  def test_a_chain_takes_the_fastest_device(self):
    problem = problems.chain(3)
    seconds = np.array([[2.0, 1.0]] * 3)
    self.assertAlmostEqual(_seconds(problem, _linked(problem, seconds)), 3)

  def test_two_chains_share_two_devices(self):
    problem = problems.two_chains(3)
    self.assertAlmostEqual(_seconds(problem, _linked(problem, np.ones(6))), 3)

  def test_parallel_work_in_a_row_adds_up(self):
    # Two modules, each a fork, four branches of 1 s, a join of 1 s.
    problem = problems.modules(2, width=4, length=1)
    costs = _linked(problem, np.ones(len(problem.graph)))
    self.assertAlmostEqual(_seconds(problem, costs), 1 + 2 * (2 + 1))

  @parameterized.parameters((0.0, 4), (0.5, 4.5), (1.0, 5), (3.0, 6))
  def test_moving_takes_time_or_ops_share_a_device(self, latency, expected):
    # Fork and join of 1 s each around two chains of two ops of 1 s.
    problem = problems.fork_join(2, 2)
    costs = _linked(problem, np.ones(6), latency)
    least = _least(problem, costs)
    found = _seconds(problem, costs)
    self.assertLessEqual(found, least)
    self.assertGreaterEqual(found, min(expected, least) - 0.51)

  def test_a_group_stays_on_one_device(self):
    problem = problems.two_chains(2, op_group=[0, 1, 0, 2])
    costs = _linked(problem, np.array([3.0, 0, 3.0, 0]))
    self.assertAlmostEqual(_seconds(problem, costs), 6)

  def test_slow_devices_share_by_their_speed(self):
    problem = problems.build([f'op_{i}' for i in range(30)], [])
    seconds = np.tile([1.0, 2.0], (30, 1))
    found = _seconds(problem, _linked(problem, seconds))
    self.assertAlmostEqual(found, 20, delta=0.3)
    self.assertLessEqual(found, 20)

  def test_nothing_takes_no_time(self):
    problem = problems.build([], [])
    self.assertEqual(_seconds(problem, _linked(problem, np.zeros(0))), 0)


if __name__ == '__main__':
  absltest.main()
