"""A search that is killed with SIGKILL goes on without losing a trial."""

import os
import pathlib
import signal
import subprocess
import sys
import time

from absl.testing import absltest

from placer.policies import registry
from placer.search import budget
from placer.search import loop
from placer.search import trial_log
from placer.testing import fake_measurer
from placer.testing import problems

TRIALS = 30


def search(path, on_measure=lambda count: None):
  """One search of 30 trials with its log at `path`.

  Args:
    path: of the log.
    on_measure: called before each candidate is measured.

  Returns:
    The SearchResult and the candidates that this run measured as trials.
  """
  problem = problems.modules(2)
  measurer = fake_measurer.FakeMeasurer(on_measure=on_measure)
  header = trial_log.Header(problem.fingerprint)
  with trial_log.TrialLog(path, header) as log:
    result = loop.search(
      problem,
      measurer,
      [registry.make('random', problem, seed=1)],
      baselines=registry.baselines(problem),
      budget=budget.Budget(trials=TRIALS),
      log=log,
    )
    return result, measurer.calls[: TRIALS - log.resumed]


def child(path: str) -> None:
  """The killed process: slow enough to be killed in the middle."""
  search(path, on_measure=lambda count: time.sleep(0.01))


class ResumeTest(absltest.TestCase):
  def test_killed_again_and_again(self):
    path = pathlib.Path(self.create_tempdir().full_path) / 'trials.jsonl'
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
    # This folder has no package-shadowing names, but the script's folder must
    # not come first all the same.
    code = 'from placer.search import resume_test as t; import sys; t.child'
    kept = 0
    for goal in (6, 17):
      process = subprocess.Popen(
        [sys.executable, '-c', f'{code}(sys.argv[1])', str(path)],
        env=environment,
      )
      self._wait_for(path, goal, process)
      process.send_signal(signal.SIGKILL)
      self.assertEqual(process.wait(), -signal.SIGKILL)
      self.assertGreaterEqual(path.read_bytes().count(b'\n') - 1, kept)
      kept = len(trial_log.read(path)[1])
      self.assertGreaterEqual(kept, goal)
      self.assertLess(kept, TRIALS)
    before = [t.to_json() for t in trial_log.read(path)[1]]

    result, measured = search(path)

    self.assertLen(result.trials, TRIALS)
    self.assertEqual([t.to_json() for t in result.trials][:kept], before)
    self.assertEqual([t.index for t in result.trials], list(range(TRIALS)))
    candidates = [tuple(t.candidate.tolist()) for t in result.trials]
    self.assertLen(set(candidates), TRIALS)
    self.assertEqual(measured, candidates[kept:])
    self.assertLen(trial_log.read(path)[1], TRIALS)

  def _wait_for(self, path, lines, process) -> None:
    """Waits until the log has more than so many trials."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
      self.assertIsNone(process.poll(), 'the child ended by itself')
      if path.exists() and path.read_bytes().count(b'\n') > lines + 1:
        return
      time.sleep(0.002)
    self.fail('the child wrote too little')


if __name__ == '__main__':
  absltest.main()
