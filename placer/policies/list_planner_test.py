import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import list_planner
from placer.policies import planning_model
from placer.testing import problems


def _model(problem, **fields):
  costs = cost_model.build(
    problem.graph, problem.devices, problem.graph.flops / 1e9
  )
  costs = dataclasses.replace(costs, **fields)
  return planning_model.PlanningModel(dataclasses.replace(problem, costs=costs))


class ListPlannerTest(absltest.TestCase):
  def test_upward_ranks_are_the_longest_ways(self):
    problem = problems.build(
      ['a', 'b', 'c', 'd'],
      [(0, 1), (0, 2), (1, 3), (2, 3)],
      flops=[1e9, 2e9, 3e9, 4e9],
      tensor_bytes=0,
      devices=problems.topology(2, linked=True),
    )
    ranks = list_planner.upward_ranks(_model(problem).graph)
    # Each move takes 0.6 ms.
    np.testing.assert_allclose(ranks, [8.0012, 6.0006, 7.0006, 4])

  def test_memory_is_seen_in_several_ways_where_it_matters(self):
    problem = problems.chain(4, devices=problems.topology(2, linked=True))
    seen = []

    def schedule(model):
      def place(step):
        seen.append(step)
        list_planner.earliest_first(model.graph, step)

      return place

    model = _model(problem)
    list_planner.candidates(model, model.graph, schedule(model))
    self.assertLen(seen, 1)
    model = _model(problem, memory_bytes=np.full(2, 2_000_000))
    found = list_planner.candidates(model, model.graph, schedule(model))
    # Three outputs of 1 MB that are read take two devices; half of them fit
    # on one, and so would none.
    self.assertLen(seen, 3)
    self.assertLen(set(found[0].tolist()), 2)
    self.assertLen(set(found[-1].tolist()), 1)

  def test_cpus_are_for_what_runs_nowhere_else(self):
    allowed = np.array([[1, 1], [1, 0], [1, 1]], bool)
    problem = problems.chain(
      3, devices=problems.topology(1, gpus=1), allowed=allowed
    )
    model = planning_model.PlanningModel(problem)
    graph = list_planner.on_accelerators(model)
    np.testing.assert_array_equal(graph.allowed, [[0, 1], [1, 0], [0, 1]])

  def test_every_op_is_placed_once(self):
    problem = problems.layered_random(
      8, 5, seed=3, devices=problems.topology(3, linked=True)
    )
    model = _model(problem)
    placed = []

    def schedule(step):
      list_planner.earliest_first(
        model.graph, step, placed=lambda op, device: placed.append(op)
      )

    (found,) = list_planner.candidates(model, model.graph, schedule)
    self.assertCountEqual(placed, range(len(problem.graph)))
    model.problem.check(found)


if __name__ == '__main__':
  absltest.main()
