import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import local_search
from placer.policies.heuristics import exact
from placer.simulation import simulator
from placer.testing import problems


def _with_costs(problem):
  seconds = 0.001 + problem.graph.flops / 1e11
  costs = cost_model.build(problem.graph, problem.devices, seconds)
  return dataclasses.replace(problem, costs=costs)


class ExactTest(absltest.TestCase):
  def test_few_placements_are_all_tried(self):
    problem = _with_costs(
      problems.fork_join(3, 3, devices=problems.topology(2, linked=True))
    )
    policy = exact.Exact(problem)
    (found,) = policy.suggest(2)
    batch = simulator.simulate(
      problem, problem.costs, local_search.all_states(problem.allowed)
    )
    least = float(np.nanmin(batch.step_time_seconds))
    self.assertEndsWith(found.label, 'the best of all')
    self.assertAlmostEqual(policy.bound.seconds, least)
    self.assertEqual(policy.bound.method, 'all placements')

  def test_more_are_searched_and_bounded(self):
    problem = _with_costs(
      problems.two_chains(8, devices=problems.topology(2, linked=True))
    )
    policy = exact.Exact(problem)
    (found,) = policy.suggest(1)
    self.assertNotEqual(found.candidate[0], found.candidate[8])
    self.assertEqual(found.candidate[:8].std(), 0)
    self.assertIn('within 0.0 % of the bound', found.label)
    self.assertAlmostEqual(policy.bound.seconds, 8 * 0.011, delta=1e-5)

  def test_says_when_it_is_too_large(self):
    problem = _with_costs(
      problems.chain(65, devices=problems.topology(2, linked=True))
    )
    policy = exact.Exact(problem)
    self.assertEmpty(policy.suggest(1))
    self.assertIn('65 groups', policy.note)
    self.assertIn('--max_groups=64', policy.note)


if __name__ == '__main__':
  absltest.main()
