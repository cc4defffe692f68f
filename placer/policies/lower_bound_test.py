import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest
from hypothesis import strategies as st

from placer.core import cost_model
from placer.policies import local_search
from placer.policies import lower_bound
from placer.simulation import simulator
from placer.testing import problems
from placer.testing import random_steps


def _linked(problem, seconds):
  devices = problems.topology(len(problem.devices), linked=True)
  return dataclasses.replace(
    problem,
    devices=devices,
    costs=cost_model.build(problem.graph, devices, seconds),
  )


class LowerBoundTest(absltest.TestCase):
  @hypothesis.given(
    ops=st.integers(0, 7),
    devices=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
  )
  @hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
  def test_is_the_best_step_where_all_placements_are_tried(
    self, ops, devices, seed
  ):
    step = random_steps.make(ops, devices, seed=seed)
    problem = dataclasses.replace(step.problem, costs=step.costs)
    states = local_search.all_states(problem.allowed)
    batch = simulator.simulate(problem, step.costs, states)
    found = lower_bound.lower_bound(problem)
    least = batch.step_time_seconds[batch.feasible].min(initial=np.inf)
    self.assertEqual(found, lower_bound.Bound(least, 'all placements'))

  def test_more_time_proves_no_less(self):
    problem = problems.modules(3, width=4, length=2)
    seconds = np.random.default_rng(0).uniform(0.001, 0.01, len(problem.graph))
    problem = _linked(problem, seconds)
    known = np.zeros(problem.num_groups, np.int32)
    quick = lower_bound.lower_bound(problem, 0, known=known)
    some = lower_bound.lower_bound(problem, 2, known=known)
    slow = lower_bound.lower_bound(problem, 8, known=known, workers=1)
    self.assertIn(quick.method, ('critical path', 'work', 'windows'))
    self.assertGreaterEqual(some.seconds, quick.seconds)
    self.assertGreaterEqual(slow.seconds, quick.seconds)
    self.assertLessEqual(slow.seconds, seconds.sum())

  def test_what_proves_it_is_said(self):
    chain = _linked(problems.chain(40), np.ones(40))
    wide = _linked(
      problems.build([f'op_{i}' for i in range(40)], []), np.ones(40)
    )
    for problem, method, seconds in (
      (chain, 'critical path', 40.0),
      (wide, 'work', 20.0),
    ):
      found = lower_bound.lower_bound(problem)
      self.assertEqual(found.method, method)
      self.assertAlmostEqual(found.seconds, seconds, delta=1e-6)

  def test_large_problems_have_a_bound(self):
    problem = _linked(problems.chain(2500), np.ones(2500))
    known = np.zeros(2500, np.int32)
    bound = lower_bound.lower_bound(problem, 1, known=known)
    self.assertAlmostEqual(bound.seconds, 2500, delta=1e-3)

  @hypothesis.given(
    ops=st.integers(1, 6),
    devices=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
  )
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_the_bound_of_very_large_problems_holds(self, ops, devices, seed):
    step = random_steps.make(ops, devices, seed=seed)
    states = local_search.all_states(step.problem.allowed)
    batch = simulator.simulate(step.problem, step.costs, states)
    found = lower_bound._of_large(step.problem, step.costs)
    least = batch.unbounded_seconds.min()
    self.assertLessEqual(found.seconds, least)


if __name__ == '__main__':
  absltest.main()
