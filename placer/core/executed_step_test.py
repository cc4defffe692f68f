from absl.testing import absltest

from placer.core import executed_step


class ExecutedStepTest(absltest.TestCase):
  def test_ends_with_whatever_ends_last(self):
    op = executed_step.ExecutedOp('a', 'Exp', 'CPU:0', 0.0, 1.0)
    transfer = executed_step.ExecutedTransfer(
      'a', 'CPU:0', 'CPU:1', 8, 1.0, 1.5
    )
    self.assertEqual(executed_step.ExecutedStep((op,)).seconds, 1.0)
    self.assertEqual(
      executed_step.ExecutedStep((op,), (transfer,)).seconds, 1.5
    )
    self.assertEqual(executed_step.ExecutedStep(()).seconds, 0.0)

  def test_nothing_ends_before_it_starts(self):
    op = executed_step.ExecutedOp('late', 'Exp', 'CPU:0', 1.0, 0.5)
    with self.assertRaisesRegex(ValueError, 'late ends before it starts'):
      executed_step.ExecutedStep((op,))


if __name__ == '__main__':
  absltest.main()
