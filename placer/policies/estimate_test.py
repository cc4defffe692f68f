import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import estimate
from placer.testing import problems
from placer.testing import strategies

# Round numbers: a step of 1 s an op, 0.1 s and 1 B/s to send.
_RATES = estimate.Rates(
  flops_per_second=1.0,
  bytes_per_second=1e30,
  op_seconds=0.0,
  link_latency_seconds=0.1,
  link_bytes_per_second=10.0,
  send_seconds=0.01,
  send_bytes_per_second=1e30,
)


def _makespan(problem, candidate, scale=estimate.Scale(), rates=_RATES):
  return estimate.Schedule(problem, rates).makespan(np.array(candidate), scale)


class EstimateTest(absltest.TestCase):
  def test_op_seconds_add_arithmetic_bytes_and_overhead(self):
    problem = problems.chain(2, flops=[6.0, 0.0], tensor_bytes=[4, 8])
    rates = estimate.Rates(
      flops_per_second=3.0, bytes_per_second=2.0, op_seconds=0.5
    )
    seconds = estimate.op_seconds(problem, rates)
    # The second reads 4 bytes and writes 8.
    np.testing.assert_allclose(seconds, [2 + 2 + 0.5, 0 + 6 + 0.5])

  def test_costs_count_where_there_are_no_flops(self):
    problem = problems.chain(2, flops=0.0)
    costs = cost_model.build(
      problem.graph,
      problems.topology(linked=True),
      np.array([[3.0, 2.0], [np.inf, np.inf]]),
      op_runs=np.array([2, 1]),
    )
    problem = dataclasses.replace(problem, costs=costs)
    np.testing.assert_allclose(estimate.op_seconds(problem), [4, 0])
    np.testing.assert_allclose(estimate.group_seconds(problem), [4, 0])
    graph = dataclasses.replace(problem.graph, flops=np.array([1e9, 0.0]))
    known = dataclasses.replace(problem, graph=graph)
    self.assertGreater(estimate.op_seconds(known)[1], 0)

  def test_group_seconds_add_the_ops(self):
    problem = problems.chain(4, op_group=[0, 1, 1, 0], flops=[1, 2, 3, 4])
    np.testing.assert_allclose(estimate.group_seconds(problem, _RATES), [5, 5])

  def test_one_device_takes_the_sum(self):
    problem = problems.modules(2, flops=1.0)
    self.assertAlmostEqual(
      _makespan(problem, np.zeros(problem.num_groups, int)),
      len(problem.graph),
    )

  def test_parallel_chains_overlap(self):
    problem = problems.two_chains(3, flops=1.0)
    self.assertAlmostEqual(_makespan(problem, [0, 0, 0, 1, 1, 1]), 3.0)

  def test_a_transfer_costs_latency_bytes_and_both_ends(self):
    problem = problems.chain(2, flops=1.0, tensor_bytes=20)
    # 1 + send 0.01 + 0.1 + 20 / 10 + receive 0.01 + 1.
    self.assertAlmostEqual(_makespan(problem, [0, 1]), 4.12)
    self.assertAlmostEqual(
      _makespan(problem, [0, 1], estimate.Scale(transfer=2)), 6.24
    )

  def test_a_tensor_is_sent_once_to_each_device(self):
    problem = problems.build(
      ['a', 'b', 'c'], [(0, 1), (0, 2)], flops=1.0, tensor_bytes=20
    )
    # Sent once, then both readers run one after the other.
    self.assertAlmostEqual(_makespan(problem, [0, 1, 1]), 5.12)

  def test_compute_factors_are_per_device(self):
    problem = problems.two_chains(3, flops=1.0)
    scale = estimate.Scale(compute=(1.0, 4.0))
    self.assertAlmostEqual(_makespan(problem, [0, 0, 0, 1, 1, 1], scale), 12.0)

  def test_measured_links_are_used(self):
    topology = problems.topology(2, linked=True)
    problem = problems.chain(
      2, devices=topology, flops=1.0, tensor_bytes=12 * 10**8
    )
    # 1 + 0.01 + 0.6 ms + 1.2 GB at 1.2 GB/s + 0.01 + 1.
    self.assertAlmostEqual(_makespan(problem, [0, 1]), 3.0206)

  def test_groups_that_feed_each_other_are_parted_into_units(self):
    # Group 0 both feeds group 1 and reads from it.
    problem = problems.chain(3, op_group=[0, 1, 0], flops=1.0, tensor_bytes=0)
    units = estimate.unit_of_op(problem.graph, problem.op_group)
    np.testing.assert_array_equal(units, [0, 1, 2])
    # Two transfers of 0.12 s.
    self.assertAlmostEqual(_makespan(problem, [0, 1]), 3.24)

  def test_weights_are_one_unit_with_their_reader(self):
    problem = problems.build(
      ['x', 'w', 'a', 'b'],
      [(0, 2), (1, 3), (2, 3)],
      op_group=[0, 1, 0, 1],
    )
    units = estimate.unit_of_op(problem.graph, problem.op_group)
    np.testing.assert_array_equal(units, [0, 1, 0, 1])

  def test_blocks_take_as_long_as_their_groups(self):
    problem = problems.modules(2, length=3, flops=1.0, tensor_bytes=10)
    block_of_group = np.arange(problem.num_groups) // 3
    devices = np.arange(block_of_group.max() + 1) % 2
    blocks = estimate.Schedule(problem, _RATES, block_of_group)
    groups = estimate.Schedule(problem, _RATES)
    self.assertLess(len(blocks.unit_seconds), len(groups.unit_seconds))
    # Merged units start later than their first group would, never earlier.
    self.assertGreaterEqual(
      blocks.makespan(devices) + 1e-9,
      groups.makespan(devices[block_of_group]),
    )

  @hypothesis.given(problem=strategies.problems())
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_bounds(self, problem):
    schedule = estimate.Schedule(problem)
    total = estimate.group_seconds(problem).sum()
    rng = np.random.default_rng(0)
    candidate = rng.integers(len(problem.devices), size=problem.num_groups)
    self.assertAlmostEqual(schedule.makespan(candidate * 0), total)
    self.assertGreaterEqual(
      schedule.makespan(candidate) + 1e-9, total / len(problem.devices)
    )

  @hypothesis.given(problem=strategies.problems())
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_units_are_in_topological_order(self, problem):
    graph = problem.graph
    units = estimate.unit_of_op(graph, problem.op_group)
    steps = units[graph.edge_target] - units[graph.edge_source]
    self.assertGreaterEqual(steps.min(initial=0), 0)
    for unit in set(units.tolist()):
      self.assertLen(set(problem.op_group[units == unit].tolist()), 1)


if __name__ == '__main__':
  absltest.main()
