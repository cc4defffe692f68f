import dataclasses

import numpy as np
from absl.testing import absltest

from benchmarks import planner_benchmark
from placer.core import cost_model
from placer.policies import lower_bound
from placer.testing import problems


def _problem():
  problem = problems.two_chains(3, devices=problems.topology(2, linked=True))
  costs = cost_model.build(problem.graph, problem.devices, np.ones(6))
  return dataclasses.replace(problem, costs=costs)


class PlannerBenchmarkTest(absltest.TestCase):
  def test_rows_are_compared_with_the_first_and_the_bound(self):
    problem = _problem()
    rows = [
      planner_benchmark.row(name, problem, problem)
      for name in ('single_device', 'm_etf')
    ]
    self.assertEqual([row.step_seconds for row in rows], [6, 3])
    text = planner_benchmark.table(
      'two chains', rows, lower_bound.Bound(2.5, 'windows'), 0.0
    )
    self.assertIn('### two chains: bound 2.50000 s by windows (0 s)', text)
    self.assertIn('| single_device | 6.00000 | 1.000 | 140.0 %', text)
    self.assertIn('| m_etf | 3.00000 | 0.500 | 20.0 %', text)

  def test_what_does_not_run_has_a_row_too(self):
    problem = _problem()
    costs = dataclasses.replace(problem.costs, memory_bytes=np.full(2, 10))
    problem = dataclasses.replace(problem, costs=costs)
    row = planner_benchmark.row('heft', problem, problem)
    self.assertIsNone(row.candidate)
    text = planner_benchmark.table(
      'tight', [row], lower_bound.Bound(1.0, 'windows'), 0.0
    )
    self.assertIn('| heft | none |', text)


if __name__ == '__main__':
  absltest.main()
