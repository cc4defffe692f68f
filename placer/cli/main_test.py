"""The command line as a user meets it: real processes, real exit codes."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import placement
from placer.testing import graphs
from placer.testing import shared_inputs


def _environment(**environment: str) -> dict[str, str]:
  path = os.pathsep.join(p for p in sys.path if p)
  return dict(
    os.environ, TF_CPP_MIN_LOG_LEVEL='3', PYTHONPATH=path, **environment
  )


def _placer(*arguments: str, cwd: str | None = None, **environment: str):
  return subprocess.run(
    [sys.executable, '-m', 'placer.cli.main', *arguments],
    env=_environment(**environment),
    cwd=cwd,
    stdin=subprocess.DEVNULL,
    capture_output=True,
    text=True,
    check=False,
    timeout=300,
  )


@contextlib.contextmanager
def _started(*arguments: str, cwd: str):
  """A running placer, killed at the end if it still runs."""
  process = subprocess.Popen(
    [sys.executable, '-m', 'placer.cli.main', *arguments],
    env=_environment(),
    cwd=cwd,
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
  )
  try:
    yield process
  finally:
    process.kill()
    process.wait()


def _lines(path: str) -> int:
  return (
    pathlib.Path(path).read_bytes().count(b'\n') if os.path.exists(path) else 0
  )


def _children(pid: int) -> list[int]:
  """The process' descendants."""
  found = []
  for folder in pathlib.Path('/proc').glob('[0-9]*'):
    try:
      status = (folder / 'stat').read_text().rpartition(')')[2].split()
    except OSError:
      continue
    if int(status[1]) == pid:
      found += [int(folder.name), *_children(int(folder.name))]
  return found


def _wait_for(condition, seconds: float = 120.0) -> None:
  end = time.monotonic() + seconds
  while not condition():
    if time.monotonic() > end:
      raise TimeoutError(f'Not within {seconds} s.')
    time.sleep(0.05)


class UsageTest(parameterized.TestCase):
  def test_help_teaches(self):
    done = _placer('--help')
    self.assertEqual(done.returncode, 0)
    for text in ('inspect', 'place', 'measure', 'Exit codes', 'local:2'):
      self.assertIn(text, done.stdout)

  def test_help_of_a_command_lists_its_flags(self):
    done = _placer('place', '--help')
    self.assertEqual(done.returncode, 0)
    for text in ('--graph', '--devices', 'hill_climb', 'placement.json'):
      self.assertIn(text, done.stdout)

  @parameterized.parameters(
    ((), 1, 'placer place'),
    (('plaec',), 1, "Did you mean 'place'"),
    (('place',), 1, 'Pass one of --graph=FILE and --model=NAME'),
    (('inspect', '--grpah=x'), 1, 'graph'),
    (('inspect', 'model.pb'), 1, '--graph=model.pb'),
    (('inspect', '--model=incepion'), 1, 'inception_v3'),
    (('inspect', '--graph=/nowhere/x.pb'), 2, 'does not exist'),
    (('place', '--graph=x', '--policy=magic'), 1, 'hill_climb'),
    (('measure', '--graph=x'), 1, '--placement'),
  )
  def test_what_makes_no_sense_says_what_would(self, arguments, code, text):
    done = _placer(*arguments)
    self.assertEqual(done.returncode, code, done.stderr)
    self.assertIn(text, done.stdout + done.stderr)
    self.assertNotIn('Traceback', done.stderr)


class FilesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = self.create_tempdir().full_path
    with open(os.path.join(self.folder, 'fork.pb'), 'wb') as file:
      file.write(graphs.fork_join().SerializeToString())

  def _load(self, *names: str):
    with open(os.path.join(self.folder, *names)) as file:
      return json.load(file)

  def test_inspect_relative_to_where_bazel_was_called(self):
    done = _placer(
      'inspect',
      '--graph=fork.pb',
      '--json',
      BUILD_WORKING_DIRECTORY=self.folder,
    )
    self.assertEqual(done.returncode, 0, done.stderr)
    found = json.loads(done.stdout)
    self.assertEqual(found['ops'], 7)
    self.assertEqual(found['supported'], {'CPU': 7, 'GPU': 7})

  def test_place_then_measure(self):
    arguments = (
      '--graph=fork.pb',
      '--devices=logical:2',
      '--steps=2',
      '--final_steps=6',
    )
    done = _placer(
      'place',
      *arguments,
      '--policy=round_robin,random',
      '--budget_trials=6',
      '--output_dir=out',
      cwd=self.folder,
    )
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn('CORRECTNESS ONLY', done.stdout)
    report = self._load('out', 'report.json')
    self.assertGreaterEqual(len(report['trials']), 6)
    self.assertTrue(
      all(t['measurement']['status'] == 'ok' for t in report['trials'])
    )
    found = placement.load(os.path.join(self.folder, 'out', 'placement.json'))
    self.assertLen(found.devices, 7)
    self.assertTrue(
      os.path.exists(os.path.join(self.folder, 'out', 'placed_graph.pb'))
    )
    again = _placer(
      'place',
      *arguments,
      '--policy=round_robin,random',
      '--budget_trials=6',
      '--output_dir=out',
      cwd=self.folder,
    )
    self.assertEqual(again.returncode, 0, again.stderr)
    self.assertIn('Going on after', again.stdout)
    self.assertLen(
      self._load('out', 'report.json')['trials'], len(report['trials'])
    )

  def test_measure_traces_the_step(self):
    names = ('weight', 'left/MatMul', 'left/Relu', 'right/MatMul', 'sum')
    placement.Placement(dict.fromkeys(names, '/device:CPU:1')).save(
      os.path.join(self.folder, 'placement.json')
    )
    arguments = (
      'measure',
      '--graph=fork.pb',
      '--placement=placement.json',
      '--trace',
    )
    done = _placer(
      *arguments, '--devices=logical:2', '--final_steps=6', cwd=self.folder
    )
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn('trace_measured.json', done.stdout)
    events = self._load('trace_measured.json')['traceEvents']
    bars = {event['name']: event for event in events if event['ph'] == 'X'}
    self.assertContainsSubset({'left/MatMul', 'right/MatMul', 'sum'}, bars)
    self.assertEqual(bars['sum']['pid'], 1)
    done = _placer(*arguments, '--devices=simulated:k80x2', cwd=self.folder)
    self.assertEqual(done.returncode, 1, done.stderr)
    self.assertIn('trace_predicted.json', done.stderr)

  def test_a_killed_search_goes_on(self):
    arguments = (
      'place',
      '--graph=fork.pb',
      '--devices=local:2',
      '--policy=random',
      '--budget_trials=8',
      '--steps=1',
      '--final_steps=6',
      '--output_dir=out',
    )
    log = os.path.join(self.folder, 'out', 'trials.jsonl')
    with _started(*arguments, cwd=self.folder) as process:
      _wait_for(lambda: _lines(log) >= 5)
      nursery = _children(process.pid)
      process.kill()
      process.wait()
    before = _lines(log)
    _wait_for(lambda: not any(os.path.exists(f'/proc/{p}') for p in nursery))
    self.assertNotEmpty(nursery)
    done = _placer(*arguments, cwd=self.folder)
    self.assertEqual(done.returncode, 0, done.stderr)
    trials = self._load('out', 'report.json')['trials']
    self.assertLen(trials, 8)
    self.assertEqual([t['index'] for t in trials], list(range(8)))
    # The header is a line, too; a line that was being written may be lost.
    self.assertIn(f'Going on after {before - 1} trials', done.stdout)

  def test_one_device_is_nothing_to_place(self):
    done = _placer(
      'place', '--graph=fork.pb', '--devices=CPU:0', cwd=self.folder
    )
    self.assertEqual(done.returncode, 1)
    self.assertIn('nothing to place', done.stderr)
    self.assertIn('local:2', done.stderr)

  def test_a_required_improvement_that_is_not_there(self):
    done = _placer(
      'place',
      '--graph=fork.pb',
      '--devices=logical:2',
      '--policy=round_robin',
      '--steps=2',
      '--final_steps=6',
      '--require_improvement',
      cwd=self.folder,
    )
    # The devices share their cores: whatever the times, they show nothing.
    self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
    self.assertIn('require_improvement', done.stderr)
    self.assertIn('local:2', done.stderr)

  def test_a_feeds_file(self):
    np.savez(os.path.join(self.folder, 'bad.npz'), y=np.zeros((8, 8)))
    done = _placer(
      'place',
      '--graph=fork.pb',
      '--devices=logical:2',
      '--feeds_file=bad.npz',
      cwd=self.folder,
    )
    self.assertEqual(done.returncode, 1)
    self.assertIn("'x'", done.stderr)


class SharedGraphsTest(absltest.TestCase):
  def test_inspect_reports_or_exits_2(self):
    folder = shared_inputs.graphs()
    for name, code, text in (
      ('mtcnn.pb', 0, 'CPU kernels 894 of 894'),
      ('taxi_estimator_train.meta', 0, 'Reach outside the process'),
      ('graphdef2mlir/graph-function-defs.pbtxt', 0, 'Blocks it'),
      ('grappler/function_error.pbtxt', 2, 'cycle'),
      ('README.md', 2, 'is text'),
      ('grappler', 2, 'not a SavedModel'),
    ):
      with self.subTest(name):
        done = _placer('inspect', f'--graph={folder / name}')
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stdout + done.stderr)


if __name__ == '__main__':
  absltest.main()
