import dataclasses
import json
import os
import pathlib
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.core import measurement
from placer.core import trial as trial_lib
from placer.search import trial_log

_HEADER = trial_log.Header('abc', ('placer', 'place'), {'devices': 'local:2'})


def _trial(index):
  return trial_lib.Trial(
    index,
    'random',
    np.array([0, 1], np.int32),
    measurement.Measurement(
      measurement.Status.OK, step_times_seconds=(0.1 + index, 0.25)
    ),
    elapsed_seconds=3.0 * index,
    label='a label',
  )


class TrialLogTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.path = pathlib.Path(self.create_tempdir().full_path) / 'trials.jsonl'

  def _write(self, count):
    with trial_log.TrialLog(self.path, _HEADER) as log:
      for index in range(count):
        log.append(_trial(index))

  def test_round_trip(self):
    self._write(2)
    with trial_log.TrialLog(self.path, _HEADER) as log:
      self.assertEqual(log.resumed, 2)
      self.assertEqual(
        [t.to_json() for t in log.trials],
        [_trial(0).to_json(), _trial(1).to_json()],
      )
      log.append(_trial(2))
      self.assertLen(log.trials, 3)
    header, trials = trial_log.read(self.path)
    self.assertEqual(header['problem'], 'abc')
    self.assertEqual(header['command'], ['placer', 'place'])
    self.assertLen(trials, 3)
    self.assertEqual(trial_log.elapsed_seconds(trials), 6.0)
    self.assertEqual(trial_log.elapsed_seconds([]), 0.0)

  def test_each_trial_is_on_disk_when_append_returns(self):
    with trial_log.TrialLog(self.path, _HEADER) as log:
      for index in range(3):
        log.append(_trial(index))
        self.assertLen(trial_log.read(self.path)[1], index + 1)

  def test_a_batch_is_on_disk_when_extend_returns(self):
    with trial_log.TrialLog(self.path, _HEADER) as log:
      with mock.patch.object(os, 'fsync', wraps=os.fsync) as fsync:
        log.extend([_trial(index) for index in range(5)])
      self.assertEqual(fsync.call_count, 1)
      self.assertLen(log.trials, 5)
      self.assertEqual(
        [t.index for t in trial_log.read(self.path)[1]], list(range(5))
      )

  def test_numpy_values_in_details_are_written(self):
    measured = dataclasses.replace(
      _trial(0).measurement, details={'cores': np.arange(2), 'n': np.int64(3)}
    )
    with trial_log.TrialLog(self.path, _HEADER) as log:
      log.append(dataclasses.replace(_trial(0), measurement=measured))
    (trial,) = trial_log.read(self.path)[1]
    self.assertEqual(trial.measurement.details, {'cores': [0, 1], 'n': 3})

  def test_survives_being_cut_off_anywhere(self):
    self._write(2)
    whole = self.path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord('\n')]
    for length in range(0, len(whole) + 1, 3):
      with self.subTest(length):
        self.path.write_bytes(whole[:length])
        complete = sum(end <= length for end in ends)
        with trial_log.TrialLog(self.path, _HEADER) as log:
          self.assertLen(log.trials, max(0, complete - 1))
          log.append(_trial(7))
        # Repaired: every line decodes again.
        lines = self.path.read_text().splitlines()
        decoded = [json.loads(line) for line in lines]
        self.assertEqual(decoded[-1]['index'], 7)
        self.assertLen(decoded, max(1, complete) + 1)

  def test_last_line_of_zeros_is_dropped(self):
    self._write(1)
    with open(self.path, 'ab') as file:
      file.write(b'\0' * 40)
    with trial_log.TrialLog(self.path, _HEADER) as log:
      self.assertLen(log.trials, 1)

  def test_damage_before_the_last_line_is_refused(self):
    self._write(2)
    lines = self.path.read_text().splitlines()
    lines[1] = lines[1][:20]
    self.path.write_text('\n'.join(lines) + '\n')
    with self.assertRaisesRegex(errors.UsageError, 'line 2 is not JSON'):
      trial_log.TrialLog(self.path, _HEADER)

  @parameterized.parameters(
    (b'hello', 'not a trial log'),
    (b'hello\n{}\n', 'line 1 is not JSON'),
    (b'{"schema": 9}\n', "schema '9'; this placer reads schema 1"),
    (b'[1, 2]\n', "schema 'None'"),
    (b'{"schema": 1, "problem": "abc"}\n{"index": 0}\n', 'not a trial'),
    (b'{"schema": 1, "problem": "abc"}\n17\n', 'not a trial'),
  )
  def test_other_files_are_refused_and_not_changed(self, content, message):
    self.path.write_bytes(content)
    with self.assertRaisesRegex(errors.UsageError, message):
      trial_log.TrialLog(self.path, _HEADER)
    self.assertEqual(self.path.read_bytes(), content)

  def test_another_problem_is_refused_with_what_differs(self):
    self._write(1)
    header = trial_log.Header('def', (), {'devices': 'local:3'})
    with self.assertRaisesRegex(
      errors.UsageError,
      r"another problem \(abc, now def\): devices was 'local:2', now 'local:3'"
      '.*--output_dir, or delete',
    ):
      trial_log.TrialLog(self.path, header)
    # The refusal gave the lock back.
    self._write(0)

  def test_another_problem_with_the_same_config(self):
    self._write(1)
    header = trial_log.Header('def', (), {'devices': 'local:2'})
    with self.assertRaisesRegex(errors.UsageError, 'the graph itself'):
      trial_log.TrialLog(self.path, header)

  def test_another_config_of_the_same_problem_is_resumed(self):
    self._write(1)
    header = trial_log.Header('abc', (), {'policy': 'random'})
    with trial_log.TrialLog(self.path, header) as log:
      self.assertLen(log.trials, 1)

  def test_two_processes_cannot_write_at_once(self):
    with trial_log.TrialLog(self.path, _HEADER):
      with self.assertRaisesRegex(
        errors.UsageError, 'Another placer process is writing'
      ):
        trial_log.TrialLog(self.path, _HEADER)
    self._write(1)

  def test_folder_that_is_not_there(self):
    with self.assertRaisesRegex(errors.UsageError, 'No such file.*output_dir'):
      trial_log.TrialLog(self.path.parent / 'no' / 'trials.jsonl', _HEADER)
    with self.assertRaisesRegex(errors.UsageError, 'Cannot read the trial log'):
      trial_log.read(self.path)


if __name__ == '__main__':
  absltest.main()
