from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.search import budget as budget_lib
from placer.testing import fake_measurer


class BudgetTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.clock = fake_measurer.FakeClock()

  def test_seconds(self):
    budget = budget_lib.Budget(seconds=100, clock=self.clock)
    self.clock.now = 1000
    budget.start()
    self.clock.now = 1060
    self.assertEqual(budget.elapsed_seconds, 60)
    self.assertEqual(budget.remaining_seconds, 40)
    self.assertEqual(budget.progress, 0.6)
    self.assertIsNone(budget.remaining_trials)
    self.assertTrue(budget.allows(40))
    self.assertFalse(budget.allows(41))
    self.clock.now = 1200
    self.assertEqual(budget.remaining_seconds, 0)
    self.assertEqual(budget.progress, 1.0)
    self.assertFalse(budget.allows())

  def test_trials(self):
    budget = budget_lib.Budget(trials=2, clock=self.clock)
    budget.start()
    self.assertTrue(budget.allows(1e9))
    budget.spend_trial()
    self.assertEqual(budget.remaining_trials, 1)
    self.assertEqual(budget.progress, 0.5)
    budget.spend_trial()
    self.assertFalse(budget.allows())
    self.assertIsNone(budget.remaining_seconds)

  def test_what_earlier_runs_spent_counts(self):
    budget = budget_lib.Budget(seconds=100, trials=10, clock=self.clock)
    budget.start(spent_seconds=30, spent_trials=8)
    self.clock.now += 10
    self.assertEqual(budget.elapsed_seconds, 40)
    self.assertEqual(budget.remaining_trials, 2)
    # Of both limits the tighter one.
    self.assertEqual(budget.progress, 0.8)

  def test_no_limit(self):
    budget = budget_lib.Budget(clock=self.clock)
    budget.start()
    self.clock.now += 1e9
    self.assertTrue(budget.allows(1e9))
    self.assertIsNone(budget.progress)

  @parameterized.parameters(
    ({'seconds': 0}, '--budget_seconds=0'), ({'trials': -1}, '--budget_trials')
  )
  def test_limits_are_positive(self, limits, message):
    with self.assertRaisesRegex(errors.UsageError, message):
      budget_lib.Budget(**limits)


if __name__ == '__main__':
  absltest.main()
