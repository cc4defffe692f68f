import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.core import measurement
from placer.policies import planning_model
from placer.simulation import simulator
from placer.testing import problems


def _problem(memory=None, **options):
  devices = problems.topology(2, linked=True)
  problem = problems.two_chains(3, devices=devices, **options)
  costs = cost_model.build(problem.graph, devices, np.full(6, 0.1))
  if memory is not None:
    limits = np.full(2, memory)
    costs = dataclasses.replace(costs, memory_bytes=limits)
  return dataclasses.replace(problem, costs=costs)


_TOGETHER = np.zeros(6, np.int32)
_APART = np.array([0, 0, 0, 1, 1, 1], np.int32)
_MIXED = np.array([0, 1, 0, 1, 0, 1], np.int32)


class PlanningModelTest(absltest.TestCase):
  def test_predicts_what_is_simulated_best_first(self):
    problem = _problem()
    model = planning_model.PlanningModel(problem)
    found = model.predict([_TOGETHER, _MIXED, _APART, _APART])
    self.assertLen(found, 3)
    np.testing.assert_array_equal(found[0].candidate, _APART)
    batch = simulator.simulate(
      problem, problem.costs, np.stack([f.candidate for f in found])
    )
    np.testing.assert_array_equal(
      [f.step_time_seconds for f in found], batch.step_time_seconds
    )

  def test_what_does_not_fit_has_no_step_time_and_comes_last(self):
    # Each op puts out 1 MB, held till its reader has ended: two live at once.
    problem = _problem(memory=2_500_000)
    model = planning_model.PlanningModel(problem)
    found = model.predict([_TOGETHER, _APART])
    self.assertEqual(found[0].status, measurement.Status.OK)
    np.testing.assert_array_equal(found[0].candidate, _APART)
    np.testing.assert_array_equal(
      model.fits(np.stack([_TOGETHER, _APART])), [False, True]
    )
    self.assertIsNone(found[1].step_time_seconds)
    self.assertEqual(found[1].status, measurement.Status.OUT_OF_MEMORY)
    self.assertIn('Out of memory', found[1].reason)

  def test_scores_lead_towards_what_fits(self):
    tight, tighter = (
      planning_model.PlanningModel(_problem(memory=memory)).scores(
        _TOGETHER[np.newaxis]
      )[0]
      for memory in (2_500_000, 1_000_000)
    )
    self.assertGreater(tight, 0.6)
    self.assertGreater(tighter, tight)

  def test_what_does_not_fit_is_worse_than_what_is_slow(self):
    # The first device is fast and too small, the second ten times as slow.
    problem = _problem()
    costs = cost_model.build(
      problem.graph, problem.devices, np.array([[0.1, 1.0]] * 6)
    )
    costs = dataclasses.replace(
      costs, memory_bytes=np.array([2_500_000, cost_model.NO_LIMIT])
    )
    model = planning_model.PlanningModel(
      dataclasses.replace(problem, costs=costs)
    )
    small, slow = model.scores(np.stack([_TOGETHER, _TOGETHER + 1]))
    self.assertGreater(small, slow)

  def test_plans_without_costs(self):
    problem = dataclasses.replace(_problem(), costs=None)
    (found,) = planning_model.PlanningModel(problem).predict([_APART])
    self.assertGreater(found.step_time_seconds, 0)

  def test_nothing_to_predict(self):
    self.assertEmpty(planning_model.PlanningModel(_problem()).predict([]))


if __name__ == '__main__':
  absltest.main()
