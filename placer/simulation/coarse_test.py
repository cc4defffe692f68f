import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.simulation import coarse
from placer.simulation import simulator
from placer.simulation import units
from placer.testing import problems
from placer.testing import random_steps

_SETTINGS = hypothesis.settings(
  max_examples=100, deadline=None, derandomize=True
)


def _costs(problem, **options) -> cost_model.CostModel:
  return cost_model.build(
    problem.graph, problem.devices, np.ones(len(problem.graph)), **options
  )


class UnitsTest(absltest.TestCase):
  def test_a_group_without_a_cycle_is_one_unit(self):
    problem = problems.chain(6, op_group=[0, 0, 1, 1, 2, 2])
    found = units.of_ops(problem.graph, problem.op_group)
    np.testing.assert_array_equal(found, [0, 0, 1, 1, 2, 2])

  def test_groups_of_a_cycle_are_cut(self):
    # 0 -> 1 -> 0 -> 2, and a last group that reads from the cycle.
    problem = problems.chain(5, op_group=[0, 1, 0, 2, 2])
    found = units.of_ops(problem.graph, problem.op_group)
    np.testing.assert_array_equal(found, [0, 1, 2, 3, 3])

  def test_constants_join_their_readers(self):
    # 1 is read by the second part of group 0 only.
    problem = problems.build(
      list('abcd'), [(0, 2), (1, 3), (2, 3)], op_group=[0, 0, 1, 0]
    )
    found = units.of_ops(problem.graph, problem.op_group)
    self.assertEqual(found[1], found[3])
    self.assertNotEqual(found[0], found[3])

  @hypothesis.given(step=random_steps.steps(max_ops=30))
  @_SETTINGS
  def test_units_are_ordered_parts_of_groups(self, step):
    graph = step.problem.graph
    found = units.of_ops(graph, step.problem.op_group)
    keep = ~graph.edge_is_back
    self.assertTrue(
      (found[graph.edge_source[keep]] <= found[graph.edge_target[keep]]).all()
    )
    groups = {}
    for unit, group in zip(found.tolist(), step.problem.op_group.tolist()):
      self.assertEqual(groups.setdefault(unit, group), group)
    self.assertEqual(sorted(groups), list(range(len(groups))))


class CoarseTest(absltest.TestCase):
  @hypothesis.given(step=random_steps.steps(max_ops=30))
  @_SETTINGS
  def test_one_device_takes_the_same_time(self, step):
    found = coarse.coarse_problem(step.problem, step.costs)
    alone = np.zeros((1, step.problem.num_groups), np.int32)
    one_slot = np.ones(len(step.problem.devices), np.int64)
    step_costs = dataclasses.replace(step.costs, concurrency=one_slot)
    coarse_costs = dataclasses.replace(found.cost_model, concurrency=one_slot)
    expected = simulator.simulate(step.problem, step_costs, alone)
    result = simulator.simulate(found.problem, coarse_costs, alone)
    gap = step.costs.gap_seconds.max(initial=0)
    # The last op may be another one, and so may be the gap that is left out.
    self.assertAlmostEqual(
      result.unbounded_seconds[0],
      expected.unbounded_seconds[0],
      delta=gap + 1e-9,
    )

  @hypothesis.given(step=random_steps.steps(max_ops=30))
  @_SETTINGS
  def test_takes_the_same_candidates(self, step):
    found = coarse.coarse_problem(step.problem, step.costs)
    batch = simulator.simulate(found.problem, found.cost_model, step.candidates)
    self.assertTrue(np.isfinite(batch.unbounded_seconds).all())
    persistent = np.bincount(
      step.candidates[0][step.problem.op_group],
      step.problem.graph.persistent_bytes,
      minlength=len(step.problem.devices),
    )
    self.assertTrue((batch.peak_bytes[0] >= persistent).all())

  @hypothesis.given(step=random_steps.steps(max_ops=20))
  @_SETTINGS
  def test_ops_of_their_own_groups_change_nothing(self, step):
    problem = dataclasses.replace(
      step.problem,
      op_group=np.arange(len(step.problem.graph), dtype=np.int32),
      allowed=np.ones(
        (len(step.problem.graph), len(step.problem.devices)), bool
      ),
      group_names=step.problem.graph.names,
    )
    # What a coarse problem does not tell apart.
    graph = step.problem.graph
    keep = graph.edge_tensor >= 0
    graph = dataclasses.replace(
      graph,
      **{
        name: getattr(graph, name)[keep]
        for name in (
          'edge_source',
          'edge_target',
          'edge_tensor',
          'edge_is_back',
        )
      },
    )
    problem = dataclasses.replace(problem, graph=graph)
    costs = dataclasses.replace(
      step.costs, op_runs=np.ones_like(step.costs.op_runs)
    )
    found = coarse.coarse_problem(problem, costs)
    candidates = np.random.default_rng(0).integers(
      len(problem.devices), size=(4, len(graph))
    )
    np.testing.assert_allclose(
      simulator.simulate(
        found.problem, found.cost_model, candidates
      ).unbounded_seconds,
      simulator.simulate(problem, costs, candidates).unbounded_seconds,
      rtol=1e-9,
    )

  def test_sums_and_crossing_tensors(self):
    problem = problems.chain(
      4,
      op_group=[0, 0, 1, 1],
      devices=problems.topology(2, linked=True),
      tensor_bytes=[1, 2, 4, 8],
    )
    found = coarse.coarse_problem(
      problem, _costs(problem, gap_seconds=0.5, temporary_bytes=[0, 5, 0, 0])
    )
    graph, costs = found.problem.graph, found.cost_model
    np.testing.assert_array_equal(costs.op_seconds, [[2.5, 2.5]] * 2)
    np.testing.assert_array_equal(costs.gap_seconds, [[0.5, 0.5]] * 2)
    np.testing.assert_array_equal(graph.tensor_bytes, [2])
    np.testing.assert_array_equal(graph.edge_source, [0])
    # Tensor 0 and the temporaries of op 1; then tensors 2 and 3.
    np.testing.assert_array_equal(costs.temporary_bytes, [6, 12])

  def test_groups_in_a_cycle_can_be_simulated(self):
    problem = problems.chain(
      6, op_group=[0, 1, 0, 2, 1, 2], devices=problems.topology(2, linked=True)
    )
    found = coarse.coarse_problem(problem, _costs(problem))
    batch = simulator.simulate(
      found.problem, found.cost_model, [[0, 0, 0], [0, 1, 0]]
    )
    self.assertEqual(batch.step_time_seconds[0], 6)
    self.assertGreater(batch.step_time_seconds[1], 6)


if __name__ == '__main__':
  absltest.main()
