"""Tests for the command, `python -m benchmarks.families`."""

import pathlib
import subprocess
import sys

from absl.testing import absltest

from benchmarks.families import base

_ROOT = pathlib.Path(__file__).parents[2]


def _run(*args):
  """Runs the command in a process of its own."""
  return subprocess.run(
    [sys.executable, '-m', 'benchmarks.families', *args],
    cwd=_ROOT,
    capture_output=True,
    text=True,
    check=False,
  )


class MainTest(absltest.TestCase):
  def test_writes_the_bytes_that_build_returns(self):
    folder = pathlib.Path(self.create_tempdir().full_path) / 'new'
    run = _run(
      '--family=nmt', f'--output_dir={folder}', '--split=test', '--count=1'
    )
    self.assertEqual(run.returncode, 0, run.stderr)
    self.assertStartsWith(run.stdout, f'{folder}/nmt_16.pb: ')
    (file,) = folder.iterdir()
    (member,) = base.members('nmt', 'test')[:1]
    self.assertTrue(file.read_bytes() == member.build(), 'The bytes differ.')

  def test_lists_the_families(self):
    run = _run('--list')
    self.assertEqual(run.returncode, 0, run.stderr)
    lines = run.stdout.splitlines()
    self.assertEqual([line.split()[0] for line in lines], list(base.names()))

  def test_unknown_family(self):
    run = _run('--family=mnist', '--output_dir=/nowhere')
    self.assertEqual(run.returncode, 1)
    self.assertIn('mnist', run.stdout + run.stderr)
    self.assertIn('cifar10, nmt, ptb', run.stdout + run.stderr)


if __name__ == '__main__':
  absltest.main()
