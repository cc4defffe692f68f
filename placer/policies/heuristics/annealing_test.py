import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import planning_model
from placer.policies.heuristics import annealing
from placer.simulation import simulator
from placer.testing import problems

_QUICK = annealing.AnnealingConfig(evaluations_per_choice=60)


def _with_costs(problem, **fields):
  costs = cost_model.build(
    problem.graph, problem.devices, problem.graph.flops / 1e11
  )
  return dataclasses.replace(
    problem, costs=dataclasses.replace(costs, **fields)
  )


def _modules(**options):
  return problems.modules(
    4, width=4, length=2, devices=problems.topology(2, linked=True), **options
  )


class AnnealingTest(absltest.TestCase):
  def test_is_no_worse_than_its_starts(self):
    problem = _with_costs(_modules())
    model = planning_model.PlanningModel(problem)
    starts = model.scores(np.stack(annealing.starts(model)))
    (first, *_) = annealing.Annealing(problem, config=_QUICK).suggest(8)
    batch = simulator.simulate(
      problem, problem.costs, first.candidate[np.newaxis]
    )
    self.assertLessEqual(batch.step_time_seconds[0], starts.min())
    self.assertIn(f'{batch.step_time_seconds[0]:.4g} s', first.label)

  def test_suggests_different_candidates_the_best_first(self):
    problem = _with_costs(_modules())
    found = annealing.Annealing(problem, config=_QUICK).suggest(8)
    self.assertLen({s.candidate.tobytes() for s in found}, 4)
    batch = simulator.simulate(
      problem, problem.costs, np.stack([s.candidate for s in found])
    )
    self.assertTrue((np.diff(batch.step_time_seconds) >= 0).all())

  def test_finds_a_placement_that_fits(self):
    problem = _modules()
    graph = dataclasses.replace(
      problem.graph,
      persistent_bytes=np.full(len(problem.graph), 10_000_000),
    )
    problem = dataclasses.replace(problem, graph=graph)
    # 370 MB to keep, and a few outputs of 1 MB: nearly half on each.
    problem = _with_costs(problem, memory_bytes=np.full(2, 198_000_000))
    (first, *_) = annealing.Annealing(problem, config=_QUICK).suggest(1)
    batch = simulator.simulate(
      problem, problem.costs, first.candidate[np.newaxis]
    )
    self.assertTrue(batch.feasible[0])

  def test_refines_op_by_op(self):
    groups = np.repeat(np.arange(12), 4)
    problem = _with_costs(
      problems.build(
        [f'op_{i}' for i in range(48)],
        [(i, i + 5) for i in range(43)],
        op_group=groups,
        flops=np.random.default_rng(0).uniform(1e9, 1e10, 48),
        devices=problems.topology(3, linked=True),
      )
    )
    steps = []
    for visits in (0, 4e7):
      config = dataclasses.replace(_QUICK, full_visits=visits)
      (first, *_) = annealing.Annealing(problem, config=config).suggest(1)
      batch = simulator.simulate(
        problem, problem.costs, first.candidate[np.newaxis]
      )
      steps.append(float(batch.step_time_seconds[0]))
    self.assertLessEqual(steps[1], steps[0])

  def test_groups_stay_where_they_must(self):
    allowed = np.ones((37, 2), bool)
    allowed[::5, 0] = False
    problem = _with_costs(_modules(allowed=allowed))
    for found in annealing.Annealing(problem, config=_QUICK).suggest(4):
      problem.check(found.candidate)


if __name__ == '__main__':
  absltest.main()
