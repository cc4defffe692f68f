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

  def test_the_program_is_no_worse_than_windows(self):
    problem = problems.modules(3, width=4, length=2)
    seconds = np.random.default_rng(0).uniform(0.001, 0.01, len(problem.graph))
    devices = problems.topology(2, linked=True)
    problem = dataclasses.replace(
      problem,
      devices=devices,
      costs=cost_model.build(problem.graph, devices, seconds),
    )
    known = np.zeros(problem.num_groups, np.int32)
    quick = lower_bound.lower_bound(problem, 0, known=known)
    slow = lower_bound.lower_bound(problem, 3, known=known, workers=1)
    self.assertEqual(quick.method, 'windows')
    self.assertGreaterEqual(slow.seconds, quick.seconds)
    self.assertLessEqual(slow.seconds, seconds.sum())

  def test_large_problems_have_a_bound(self):
    problem = problems.chain(2500)
    bound = lower_bound.lower_bound(problem, known=np.zeros(2500, np.int32))
    self.assertEqual(bound.method, 'windows')
    self.assertGreater(bound.seconds, 0)

  def test_gap(self):
    bound = lower_bound.Bound(2.0, 'windows')
    self.assertAlmostEqual(bound.gap(2.5), 0.25)
    self.assertEqual(lower_bound.Bound(0.0, 'windows').gap(0.0), 0)


if __name__ == '__main__':
  absltest.main()
