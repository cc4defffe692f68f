import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import planner
from placer.testing import problems


class _Planner(planner.Planner):
  name = 'three'
  summary = 'three candidates'
  max_suggestions = 2

  def plan(self, model):
    return [
      np.zeros(4, np.int32),
      np.array([0, 1, 0, 1], np.int32),
      np.array([0, 0, 1, 1], np.int32),
    ]


def _problem(memory_bytes=10**9):
  devices = problems.topology(2, linked=True)
  problem = problems.two_chains(2, devices=devices)
  costs = cost_model.build(problem.graph, devices, np.ones(4))
  costs = dataclasses.replace(costs, memory_bytes=np.full(2, memory_bytes))
  return dataclasses.replace(problem, costs=costs)


class PlannerTest(absltest.TestCase):
  def test_suggests_the_best_with_its_predicted_step(self):
    policy = _Planner(_problem())
    self.assertEmpty(policy.suggest(0))
    (first,) = policy.suggest(1)
    np.testing.assert_array_equal(first.candidate, [0, 0, 1, 1])
    self.assertEqual(first.label, 'three, predicted 2 s')
    (second,) = policy.suggest(5)
    self.assertEqual(second.label, 'three, predicted 3.001 s')
    self.assertEmpty(policy.suggest(5))

  def test_says_what_the_model_does_not_expect_to_run(self):
    (first, _) = _Planner(_problem(memory_bytes=10)).suggest(2)
    self.assertEqual(first.label, 'three, predicted out of memory')


if __name__ == '__main__':
  absltest.main()
