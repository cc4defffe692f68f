"""Tests of zero_shot.py and weights.py: what comes with placer."""

import dataclasses
import pathlib

import numpy as np
from absl.testing import absltest

from placer.core import errors
from placer.policies import planning_costs
from placer.policies.placeto import config
from placer.policies.placeto import guided_search
from placer.policies.placeto import networks
from placer.policies.placeto import objective
from placer.policies.placeto import weights
from placer.policies.placeto import zero_shot
from placer.testing import problems

_QUICK = zero_shot.ZeroShotConfig(
  random_starts=2, search=guided_search.of_rounds(1)
)


class ZeroShotTest(absltest.TestCase):
  def test_legal_and_not_worse_than_one_device_on_2_to_8_devices(self):
    rng = np.random.default_rng(0)
    for devices in range(2, 9):
      with self.subTest(devices):
        groups = problems.layered_random(6).num_groups
        allowed = rng.random((groups, devices)) < 0.7
        allowed[:, 0] = True
        problem = problems.layered_random(
          6, devices=problems.topology(devices, linked=True), allowed=allowed
        )
        found = zero_shot.zero_shot(problem, None, config=_QUICK)
        self.assertEqual(found.dtype, np.int32)
        for candidate in found:
          problem.check(candidate)
        self.assertLen(np.unique(found, axis=0), len(found))
        seconds = objective.Objective(problem).seconds(
          np.stack([*found, np.zeros(groups, int)])
        )
        self.assertTrue((np.diff(seconds[: len(found)]) >= 0).all())
        self.assertLessEqual(seconds[0], seconds[-1])

  def test_splits_two_chains(self):
    problem = problems.two_chains(4, devices=problems.topology(2, linked=True))
    best = zero_shot.zero_shot(problem, None)[0]
    self.assertLen(set(best[:4].tolist()), 1)
    self.assertLen(set(best[4:].tolist()), 1)
    self.assertNotEqual(best[0], best[4])

  def test_equal_seeds_place_the_same(self):
    problem = problems.layered_random(6, devices=3)
    costs = planning_costs.of_problem(problem)
    one, other = (
      zero_shot.zero_shot(problem, costs, seed=3, config=_QUICK)
      for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)

  def test_no_choice_and_no_group(self):
    for problem in (
      problems.chain(3, devices=1),
      problems.build([], []),
    ):
      found = zero_shot.zero_shot(problem, None)
      self.assertEqual(found.shape, (1, problem.num_groups))

  def test_many_groups_are_joined(self):
    count = zero_shot.MOST_GROUPS + 40
    allowed = np.ones((count, 3), bool)
    allowed[::7, 0] = False
    block = zero_shot._blocks(allowed)
    self.assertLessEqual(block.max() + 1, zero_shot.MOST_GROUPS)
    self.assertEqual(np.unique(block).tolist(), list(range(block.max() + 1)))
    for members in range(block.max() + 1):
      rows = allowed[block == members]
      self.assertTrue((rows == rows[0]).all())


class WeightsTest(absltest.TestCase):
  def test_a_file_gives_the_network_back(self):
    settings = config.PlacetoConfig(hidden=4, rounds=1)
    network = networks.make(settings, 2, seed=5)
    path = pathlib.Path(self.create_tempdir().full_path, 'weights.json')
    weights.save(network, settings, path, num_devices=2, command='a command')
    again, theirs = weights.load(path)
    self.assertEqual(theirs, settings)
    for one, other in zip(
      network.trainable_variables, again.trainable_variables, strict=True
    ):
      np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)

  def test_refuses_other_files_and_networks(self):
    path = pathlib.Path(self.create_tempdir().full_path, 'weights.json')
    with self.assertRaisesRegex(errors.UsageError, 'weights.json'):
      weights.load(path)
    path.write_text('{}')
    with self.assertRaisesRegex(errors.UsageError, 'KeyError'):
      weights.load(path)
    other = dataclasses.replace(config.PlacetoConfig(), hidden=4)
    with self.assertRaisesRegex(errors.UsageError, 'hidden'):
      weights.assign_pretrained(networks.make(other, 2, seed=0), other)

  def test_what_comes_with_placer(self):
    self.assertLess(weights.PRETRAINED.stat().st_size, 2**20)
    network, settings = weights.pretrained()
    self.assertEqual(settings.network, 'devices')
    for variable in network.trainable_variables:
      self.assertTrue(np.isfinite(variable.numpy()).all())


if __name__ == '__main__':
  absltest.main()
