"""The line of training: what it says, and how often."""

import io

from absl.testing import absltest

from placer.reports import training_progress

_LINE = {'graph': 0, 'samples': 2048, 'best_seconds': 0.5, 'reward': -0.75}


class TrainingProgressTest(absltest.TestCase):
  def test_says_the_best_and_what_is_left(self):
    line = training_progress.TrainingProgress(['net'], [1.0])
    self.assertEqual(
      line.text(_LINE, 31.2),
      '2,048 samples | net 0.5 s, 2.00x | reward -0.750 | 31 s left',
    )
    text = line.text(_LINE | {'best_seconds': None}, None)
    self.assertIn('nothing runs yet', text)

  def test_prints_a_line_each_two_seconds_where_there_is_no_terminal(self):
    stream, now = io.StringIO(), [0.0]
    line = training_progress.TrainingProgress(
      ['net'], [1.0], stream, clock=lambda: now[0]
    )
    for now[0] in (0.0, 0.5, 1.9, 2.0, 2.5):
      line(_LINE, None)
    line.close()
    self.assertLen(stream.getvalue().splitlines(), 2)


if __name__ == '__main__':
  absltest.main()
