import io
import itertools

import numpy as np
from absl.testing import absltest

from placer.core import measurement
from placer.core import trial as trial_lib
from placer.reports import progress


class _Terminal(io.StringIO):
  def isatty(self):
    return True


def _trial(measured, label='hill_climb 4', index=12):
  return trial_lib.Trial(
    index, 'hill_climb', np.zeros(1, np.int32), measured, label=label
  )


_OK = measurement.Measurement(
  measurement.Status.OK,
  step_times_seconds=(0.6333, 0.7, 0.6),
  reference_times_seconds=(0.85, 0.84, 0.86),
)


class ProgressTest(absltest.TestCase):
  def test_line(self):
    self.assertEqual(
      progress.line(_trial(_OK), 1 / 1.36, 41.2, 7),
      '#12 hill_climb 4: 633.3 ms, 1.34x | best 1.36x | 41 s left | '
      '7 trials left',
    )

  def test_what_is_not_known_is_left_out(self):
    failed = measurement.Measurement(measurement.Status.TIMEOUT, 'no end')
    self.assertEqual(
      progress.line(_trial(failed, ''), None, None, None),
      '#12 hill_climb: timeout',
    )
    alone = measurement.Measurement(
      measurement.Status.OK, step_times_seconds=(0.01,)
    )
    self.assertEqual(
      progress.line(_trial(alone), 1.0, None, 0),
      '#12 hill_climb 4: 10 ms | best 1.00x | 0 trials left',
    )

  def test_durations(self):
    texts = [
      progress.line(_trial(_OK), None, seconds, None).split(' | ')[1]
      for seconds in (0.0, 119.0, 600.0, 9000.0)
    ]
    self.assertEqual(
      texts, ['0 s left', '119 s left', '10 min left', '2.5 h left']
    )

  def test_a_line_a_trial_in_a_file(self):
    stream = io.StringIO()
    shown = progress.ProgressLine(stream, clock=itertools.count(1).__next__)
    shown(_trial(_OK, index=0), 1.0, None, None)
    shown(_trial(_OK, index=1), 1.0, None, None)
    shown.close()
    lines = stream.getvalue().splitlines()
    self.assertLen(lines, 2)
    self.assertStartsWith(lines[1], '#1 hill_climb 4')

  def test_thousands_of_trials_a_second_are_a_line_each_second(self):
    stream = io.StringIO()
    ticks = itertools.count(1000)
    shown = progress.ProgressLine(stream, clock=lambda: next(ticks) / 1000)
    for index in range(3000):
      shown(_trial(_OK, index=index), 1.0, None, None)
    self.assertLen(stream.getvalue().splitlines(), 3)

  def test_one_line_on_a_terminal(self):
    stream = _Terminal()
    shown = progress.ProgressLine(stream, clock=itertools.count(1).__next__)
    shown(_trial(_OK), 1.0, None, None)
    shown(_trial(_OK, label='x' * 500), 1.0, None, None)
    shown.close()
    shown.close()
    text = stream.getvalue()
    self.assertEqual(text.count('\n'), 1)
    self.assertEqual(text.count('\r'), 2)
    self.assertLess(len(text), 400)


if __name__ == '__main__':
  absltest.main()
