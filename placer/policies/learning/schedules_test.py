"""Schedules at their ends, in the middle and after."""

from absl.testing import absltest

from placer.policies.learning import schedules


class SchedulesTest(absltest.TestCase):
  def test_constant(self):
    self.assertEqual([schedules.Constant(0.1)(i) for i in (0, 99)], [0.1, 0.1])

  def test_linear(self):
    schedule = schedules.Linear(1.0, 0.0, 10)
    self.assertEqual([schedule(i) for i in (0, 5, 10, 99)], [1, 0.5, 0, 0])

  def test_exponential(self):
    schedule = schedules.Exponential(1.0, 0.01, 10)
    for step, expected in ((0, 1.0), (5, 0.1), (10, 0.01), (99, 0.01)):
      self.assertAlmostEqual(schedule(step), expected)


if __name__ == '__main__':
  absltest.main()
