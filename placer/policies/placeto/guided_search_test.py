"""Tests of guided_search.py, guided_moves.py and chains.py."""

import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest
from hypothesis import strategies as st

from placer.policies import group_moves
from placer.policies.placeto import chains
from placer.policies.placeto import config
from placer.policies.placeto import guided_moves
from placer.policies.placeto import guided_search
from placer.policies.placeto import world
from placer.policies.placeto import zero_shot
from placer.testing import problems


def _some_allowed(groups: int, devices: int, seed: int) -> np.ndarray:
  allowed = np.random.default_rng(seed).random((groups, devices)) < 0.6
  allowed[:, 0] |= ~allowed.any(axis=1)
  return allowed


def _moves(seed: int, devices: int):
  groups = problems.layered_random(5).num_groups
  allowed = _some_allowed(groups, devices, seed)
  problem = problems.layered_random(
    5, devices=problems.topology(devices, linked=True), allowed=allowed
  )
  made = group_moves.GroupMoves(problem, allowed)
  return guided_moves.GuidedMoves(made, allowed, equal=0.5), allowed


def _random_rows(allowed: np.ndarray, count: int, rng) -> np.ndarray:
  draws = np.where(allowed, rng.random((count, *allowed.shape)), -1)
  return draws.argmax(axis=2).astype(np.int32)


class GuidedMovesTest(absltest.TestCase):
  @hypothesis.given(seed=st.integers(0, 2**16), devices=st.integers(2, 5))
  @hypothesis.settings(max_examples=20, deadline=None, derandomize=True)
  def test_chains_stay_legal(self, seed, devices):
    moves, allowed = _moves(seed, devices)
    rng = np.random.default_rng(seed)
    rows = _random_rows(allowed, 3, rng)
    log_probs = np.log(rng.dirichlet(np.ones(devices), (3, len(allowed))))
    walk = chains.Chains.begin(moves, rows, np.ones(3), log_probs, 6, rng)
    steps = 0
    while not walk.is_over:
      proposed = walk.propose(moves, 0.4, rng)
      self.assertTrue(allowed[np.arange(len(allowed)), proposed].all())
      walk.accept(proposed, rng.random(3), 0.1, rng)
      steps += 1
    self.assertEqual(steps, 6)

  def test_moves_what_the_network_would_have_elsewhere(self):
    problem = problems.chain(6, devices=problems.topology(3, linked=True))
    allowed = np.ones((6, 3), bool)
    moves = guided_moves.GuidedMoves(
      group_moves.GroupMoves(problem, allowed), allowed, equal=0.0
    )
    log_probs = np.full((1, 6, 3), -8.0)
    log_probs[:, :, 2] = 0.0
    rows = np.zeros((1, 6), np.int32)
    _, devices = moves.draw(rows, log_probs, 200, np.random.default_rng(0))
    self.assertGreater((devices == 2).mean(), 0.95)
    self.assertFalse((devices == 0).any())

  def test_better_is_accepted_and_much_worse_is_not(self):
    moves, allowed = _moves(0, 2)
    rng = np.random.default_rng(0)
    rows = _random_rows(allowed, 2, rng)
    log_probs = np.zeros((2, len(allowed), 2))
    walk = chains.Chains.begin(moves, rows, np.ones(2), log_probs, 1, rng)
    walk.accept(1 - rows, np.array([0.9, 2.0]), 0.01, rng)
    np.testing.assert_array_equal(walk.current, [1 - rows[0], rows[1]])
    np.testing.assert_array_equal(walk.values, [0.9, 1.0])


class GuidedSearchTest(absltest.TestCase):
  def test_splits_two_chains_from_one_device(self):
    problem = problems.two_chains(4, devices=problems.topology(2, linked=True))
    made = world.World(problem, config.PlacetoConfig(warm_start=()))
    search = guided_search.GuidedSearch(
      made,
      zero_shot.pretrained_sampler(),
      np.random.default_rng(0),
      guided_search.of_rounds(3),
    )
    found = search.run(made.single_device[np.newaxis], 4)
    seconds = made.objective.seconds(
      np.stack([*found, made.single_device, [0] * 4 + [1] * 4])
    )
    self.assertTrue((np.diff(seconds[: len(found)]) >= 0).all())
    self.assertLess(seconds[0], seconds[-2])
    self.assertEqual(seconds[0], seconds[-1])

  def test_no_round_gives_the_starts(self):
    problem = problems.layered_random(
      4, devices=problems.topology(2, linked=True)
    )
    made = world.World(problem, config.PlacetoConfig(warm_start=()))
    stage = guided_search.Stage(rounds=0, moves=1, every=1, hot=1, cold=1)
    search = guided_search.GuidedSearch(
      made,
      zero_shot.pretrained_sampler(),
      np.random.default_rng(0),
      dataclasses.replace(
        guided_search.GuidedSearchConfig(), coarse=stage, fine=stage
      ),
    )
    start = made.single_device[np.newaxis]
    np.testing.assert_array_equal(search.run(start, 4), start)


if __name__ == '__main__':
  absltest.main()
