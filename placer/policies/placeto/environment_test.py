"""Tests of environment.py and objective.py: the laws of the process."""

import hypothesis
import numpy as np
from absl.testing import absltest
from hypothesis import strategies as st

from placer.core import cost_model
from placer.policies.learning import rewards
from placer.policies.placeto import environment
from placer.policies.placeto import objective
from placer.testing import problems
from placer.testing import strategies


def _play(world, start, order, rng):
  """Random legal actions, step by step; all states and the actions."""
  state = world.reset(start, order)
  states, actions = [state.placement], []
  while not state.is_last:
    allowed = world.allowed[state.current]
    draws = np.where(allowed, rng.random(allowed.shape), -1)
    actions.append(draws.argmax(axis=1))
    state = world.step(state, actions[-1])
    states.append(state.placement)
  return state, np.stack(states, 1), np.stack(actions, 1)


def _starts(world, count, rng):
  draws = rng.random((count, *world.allowed.shape))
  return np.where(world.allowed, draws, -1).argmax(axis=2)


class EnvironmentTest(absltest.TestCase):
  def test_rewards_add_up_exactly(self):
    @hypothesis.given(
      problem=strategies.problems(),
      seed=st.integers(0, 2**16),
      kind=st.sampled_from(environment.ORDERS),
      sweeps=st.integers(1, 3),
      terminal_only=st.booleans(),
    )
    @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
    def check(problem, seed, kind, sweeps, terminal_only):
      hypothesis.assume(problem.num_groups > 0)
      rng = np.random.default_rng(seed)
      goal = objective.Objective(problem)
      world = environment.Environment(
        goal, sweeps=sweeps, terminal_only=terminal_only
      )
      start, order = _starts(world, 3, rng), world.orders(kind, 3, rng)
      _, states, actions = _play(world, start, order, rng)
      gained, seconds = world.rewards(start, order, actions)
      np.testing.assert_array_equal(
        environment.placements(start, order, actions), states
      )
      # Each state by itself, not in one call.
      np.testing.assert_array_equal(
        seconds, np.stack([goal.seconds(s) for s in states])
      )
      np.testing.assert_array_equal(
        gained.sum(axis=1), seconds[:, 0] - seconds[:, -1]
      )
      if terminal_only:
        self.assertFalse(gained[:, :-1].any())

    check()

  def test_reward_is_positive_when_a_step_gets_faster(self):
    problem = problems.two_chains()
    world = environment.Environment(objective.Objective(problem))
    groups = problem.num_groups
    start = np.zeros((1, groups), int)
    order = world.orders('topological', 1, np.random.default_rng(0))
    split = np.arange(groups)[np.newaxis] >= groups // 2
    gained, seconds = world.rewards(start, order, split.astype(int))
    self.assertLess(seconds[0, -1], seconds[0, 0])
    faster = seconds[0, 1:] < seconds[0, :-1]
    self.assertTrue((gained[0][faster] > 0).all())
    self.assertTrue((gained[0][~faster] <= 0).all())
    self.assertGreater(gained.sum(), 0)

  def test_each_sweep_visits_each_group_once(self):
    problem = problems.layered_random(devices=3)
    world = environment.Environment(objective.Objective(problem), sweeps=2)
    rng = np.random.default_rng(0)
    for kind in environment.ORDERS:
      with self.subTest(kind):
        order = world.orders(kind, 2, rng)
        state = world.reset(_starts(world, 2, rng), order)
        for step in range(2 * problem.num_groups):
          self.assertEqual(
            state.visited.sum(axis=1).tolist(),
            [step % problem.num_groups or (problem.num_groups if step else 0)]
            * 2,
          )
          state = world.step(state, world.allowed[state.current].argmax(axis=1))
        self.assertTrue(state.is_last)
        self.assertTrue(state.visited.all())

  def test_orders(self):
    flops = [1e9, 4e9, 2e9]
    problem = problems.chain(3, flops=flops)
    world = environment.Environment(objective.Objective(problem))
    rng = np.random.default_rng(0)
    self.assertEqual(world.orders('topological', 1, rng).tolist(), [[0, 1, 2]])
    self.assertEqual(world.orders('reverse', 1, rng).tolist(), [[2, 1, 0]])
    self.assertEqual(world.orders('cost', 1, rng).tolist(), [[1, 2, 0]])
    random = world.orders('random', 50, rng)
    self.assertLen(np.unique(random, axis=0), 6)
    with self.assertRaisesRegex(ValueError, 'topological'):
      world.orders('none', 1, rng)

  def test_a_step_does_not_change_the_state_before(self):
    world = environment.Environment(objective.Objective(problems.chain(3)))
    order = world.orders('topological', 1, np.random.default_rng(0))
    state = world.reset(np.zeros((1, 3), int), order)
    world.step(state, np.array([1]))
    self.assertFalse(state.placement.any())
    self.assertFalse(state.visited.any())

  def test_refuses_what_is_not_legal(self):
    allowed = np.ones((3, 2), bool)
    allowed[1, 0] = False
    world = environment.Environment(
      objective.Objective(problems.chain(3, allowed=allowed))
    )
    order = world.orders('topological', 1, np.random.default_rng(0))
    with self.assertRaisesRegex(ValueError, 'may not be'):
      world.reset(np.zeros((1, 3), int), order)
    with self.assertRaisesRegex(ValueError, 'once'):
      world.reset(np.ones((1, 3), int), order * 0)
    with self.assertRaisesRegex(ValueError, 'shape'):
      world.reset(np.ones((1, 3), int), order[:, :2])
    state = world.step(world.reset(np.ones((1, 3), int), order), np.array([0]))
    with self.assertRaisesRegex(ValueError, 'may not be'):
      world.step(state, np.array([0]))
    state = world.step(world.step(state, np.array([1])), np.array([0]))
    with self.assertRaisesRegex(ValueError, 'ended'):
      world.step(state, np.array([0]))

  def test_equal_states_are_simulated_once(self):
    problem = problems.chain(4)
    goal = objective.Objective(problem)
    world = environment.Environment(goal)
    start = np.zeros((2, 4), int)
    order = world.orders('topological', 2, np.random.default_rng(0))
    goal.evaluations = 0
    world.rewards(start, order, np.array([[0, 0, 0, 0], [0, 1, 0, 0]]))
    self.assertEqual(goal.evaluations, 3)

  def test_rewards_of_several_steps_come_with_the_last(self):
    states = np.array([[[0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 2]]])
    for every, wanted in (
      (1, [True, True, False, True]),
      (2, [True, False, True, True]),
      (0, [True, False, False, True]),
    ):
      is_new = environment.changes(states, every)
      self.assertEqual(is_new[0].tolist(), wanted)
    values = np.array([8.0, 6.0, 5.0])
    seconds = environment.of_all_states(values, environment.changes(states, 2))
    self.assertEqual(seconds.tolist(), [[8, 8, 6, 5]])


class ObjectiveTest(absltest.TestCase):
  def test_memory_penalty_and_its_cap(self):
    goal = objective.Objective(
      problems.chain(2), seconds_per_gb=2.0, most_seconds=10.0
    )
    outcomes = rewards.Outcomes(
      step_seconds=np.array([1.0, 1.0, 1.0, np.inf, 1.0]),
      feasible=np.array([True, False, False, False, True]),
      peak_bytes=np.array(
        [[9, 0], [11, 13], [30, 0], [0, 0], [10, 10]], np.int64
      )
      * 10**9,
      memory_bytes=np.full(2, 10 * 10**9, np.int64),
    )
    # The device that is over its limit by most counts: 3 GB, then 20 GB.
    self.assertEqual(
      goal.penalised(outcomes).tolist(), [1.0, 7.0, 10.0, 10.0, 1.0]
    )

  def test_scale_of_a_problem(self):
    problem = problems.two_chains()
    goal = objective.Objective(problem)
    single = goal.seconds(np.zeros((1, problem.num_groups), int))
    np.testing.assert_allclose(single, goal.reference_seconds, rtol=0.05)
    self.assertGreater(goal.most_seconds, goal.reference_seconds)
    self.assertEqual(goal.costs.memory_bytes[0], cost_model.NO_LIMIT)

  def test_start_seconds_are_in_order_on_one_device(self):
    problem = problems.chain(5)
    starts = objective.Objective(problem).start_seconds(np.zeros((1, 5), int))
    self.assertTrue((np.diff(starts[0]) > 0).all())


if __name__ == '__main__':
  absltest.main()
