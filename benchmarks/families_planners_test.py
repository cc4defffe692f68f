"""Tests for families_planners."""

import dataclasses

import numpy as np
from absl.testing import absltest

from benchmarks import families_planners
from placer.core import cost_model
from placer.testing import problems


def _problem():
  problem = problems.two_chains(3, devices=problems.topology(2, linked=True))
  costs = cost_model.build(problem.graph, problem.devices, np.ones(6))
  return dataclasses.replace(problem, costs=costs)


class FamiliesPlannersTest(absltest.TestCase):
  def test_plans_are_simulated(self):
    found = families_planners.plan('m_etf', _problem())
    self.assertEqual(found.step_seconds, 3)

  def test_a_planner_without_a_placement_that_runs(self):
    problem = _problem()
    costs = dataclasses.replace(problem.costs, memory_bytes=np.full(2, 10))
    problem = dataclasses.replace(problem, costs=costs)
    found = families_planners.plan('single_device', problem)
    self.assertTrue(np.isnan(found.step_seconds))

  def test_table(self):
    result = families_planners.Result
    rows = {
      f'toy_{i}': {
        'single_device': result(2.0, 0.5),
        'heft': result(step, 1.5),
        'expert': result(other, 0.5),
      }
      for i, (step, other) in enumerate(
        [(1.0, np.nan), (2.0, 1.5), (3.0, np.nan)]
      )
    }
    text = families_planners.table('toy', rows)
    self.assertIn(
      '| heft | 1.000 | 0.500 | 0.750 | 1.000 | 1.250 | 1.500 | 0 | 1.5 |', text
    )
    self.assertIn('| expert | 0.750 | 0.750 |', text)
    self.assertIn('| 0.750 | 2 | 0.5 |', text)
    # 0.5, 0.75 and 1.0, the single device's.
    self.assertIn('| best | 0.750 | 0.500 |', text)
    self.assertIn('| toy_2 | 2.0000 | 1.500 | nan |', text)


if __name__ == '__main__':
  absltest.main()
