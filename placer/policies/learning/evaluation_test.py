"""Simulated outcomes and the reference they are relative to."""

import numpy as np
from absl.testing import absltest

from placer.policies.learning import evaluation
from placer.policies.learning import rewards
from placer.policies.learning import warm_start
from placer.testing import known_optima
from placer.testing import problems


class EvaluationTest(absltest.TestCase):
  def test_the_reference_is_the_best_single_device(self):
    for name, seconds in (('chain', 6.0), ('two chains', 8.0)):
      problem, _ = known_optima.cases()[name]
      evaluator = evaluation.Simulated([problem])
      self.assertAlmostEqual(
        evaluation.reference_seconds(problem, evaluator), seconds
      )

  def test_where_no_single_device_has_the_memory_it_is_without_limit(self):
    problem, _ = known_optima.cases()['memory for half']
    evaluator = evaluation.Simulated([problem])
    self.assertAlmostEqual(
      evaluation.reference_seconds(problem, evaluator), 4.0
    )
    outcomes = evaluator(0, np.zeros((2, 4), np.int32))
    self.assertEqual(outcomes.infeasible_rate, 1.0)
    found = rewards.negative_sqrt(outcomes, reference_seconds=4.0)
    # 1, and 1 + 10 for having twice the limit, more than the cap of 10.
    np.testing.assert_allclose(found, -np.sqrt(10.0))

  def test_a_problem_without_costs_is_refused(self):
    with self.assertRaisesRegex(ValueError, 'costs'):
      evaluation.Simulated([problems.chain()])


class WarmStartTest(absltest.TestCase):
  def test_has_each_candidate_once_in_order(self):
    problem, _ = known_optima.cases()['chain']
    found = warm_start.candidates(problem, ['single_device', 'm_etf'])
    np.testing.assert_array_equal(found[:2], [[0] * 6, [1] * 6])
    self.assertLen(np.unique(found, axis=0), len(found))
    self.assertEqual(warm_start.candidates(problem, []).shape, (0, 6))


if __name__ == '__main__':
  absltest.main()
