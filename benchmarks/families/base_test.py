"""Tests for base: the members that the families have, for good."""

import hashlib

from absl.testing import absltest
from absl.testing import parameterized

from benchmarks.families import base

# Of the members' configurations: they must never change, whatever else does.
_FIXED = {
  'cifar10': '817125b1d722e7df',
  'nmt': 'b25c529a515f4918',
  'ptb': '2d2bcced9c87b895',
}


def _digest(family: str) -> str:
  configs = [member.config for member in base.members(family)]
  return hashlib.sha256(repr(configs).encode()).hexdigest()[:16]


class BaseTest(parameterized.TestCase):
  def test_names(self):
    self.assertEqual(base.names(), ('cifar10', 'nmt', 'ptb'))

  @parameterized.parameters(*_FIXED)
  def test_members_are_fixed_for_good(self, family):
    self.assertEqual(_digest(family), _FIXED[family])

  @parameterized.parameters(*_FIXED)
  def test_halves_are_16_each_and_share_nothing(self, family):
    halves = [base.members(family, split) for split in ('train', 'test')]
    self.assertEqual([len(half) for half in halves], [16, 16])
    self.assertEqual(halves[0] + halves[1], base.members(family))
    configs = [{member.config for member in half} for half in halves]
    self.assertEmpty(configs[0] & configs[1])
    self.assertLen(configs[0] | configs[1], 32)

  @parameterized.parameters(
    ('cifar10', 240, 360), ('ptb', 1536, 3072), ('nmt', 64, 128)
  )
  def test_batch_sizes_are_in_the_papers_range(self, family, low, high):
    sizes = [member.config.batch_size for member in base.members(family)]
    self.assertBetween(min(sizes), low, high)
    self.assertBetween(max(sizes), low, high)
    # Both ends of the range are come near to by 32 draws.
    self.assertLess(min(sizes), low + (high - low) / 4)
    self.assertGreater(max(sizes), high - (high - low) / 4)

  def test_steps_are_in_the_papers_range(self):
    ptb = [member.config.steps for member in base.members('ptb')]
    self.assertContainsSubset(ptb, range(25, 41))
    nmt = [member.config.model for member in base.members('nmt')]
    self.assertContainsSubset([m.source_steps for m in nmt], range(16, 33))
    self.assertEqual(
      [m.source_steps for m in nmt], [m.target_steps for m in nmt]
    )

  def test_another_seed_gives_another_family(self):
    first, second = base.members('ptb'), base.members('ptb', seed=1)
    self.assertEqual([m.name for m in first], [m.name for m in second])
    self.assertEmpty({m.config for m in first} & {m.config for m in second})

  def test_unknown_names_are_answered_with_the_choices(self):
    with self.assertRaisesRegex(ValueError, "'mnist'.*cifar10, nmt, ptb"):
      base.members('mnist')
    with self.assertRaisesRegex(ValueError, "'tests'.*train, test, all"):
      base.members('ptb', 'tests')


if __name__ == '__main__':
  absltest.main()
