from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.policies import registry
from placer.testing import problems


class RegistryTest(parameterized.TestCase):
  @parameterized.parameters(
    'single_device', 'original', 'round_robin', 'random', 'expert', 'hill_climb'
  )
  def test_finds_the_heuristics(self, name):
    self.assertIn(name, registry.names())
    self.assertEqual(registry.get(name).name, name)

  def test_names_are_sorted_and_each_can_be_made(self):
    self.assertEqual(registry.names(), tuple(sorted(registry.names())))
    for name in registry.names():
      policy = registry.make(name, problems.chain(), seed=1)
      self.assertEqual(policy.name, name)

  def test_unknown_name_lists_the_choices(self):
    with self.assertRaisesRegex(
      errors.UsageError, "Unknown policy 'rnd'.*random, round_robin.*--policy"
    ):
      registry.make('rnd', problems.chain())

  def test_baselines_start_with_the_single_devices(self):
    baselines = registry.baselines(problems.chain())
    self.assertEqual(
      [policy.name for policy in baselines],
      ['single_device', 'original', 'expert'],
    )


if __name__ == '__main__':
  absltest.main()
