"""Tests for the command, `python -m benchmarks.models`."""

import pathlib
import subprocess
import sys

import tensorflow as tf
from absl.testing import absltest

from benchmarks.models import base

_ROOT = pathlib.Path(__file__).parents[2]


def _run(*args):
  """Runs the command in a process of its own."""
  return subprocess.run(
    [sys.executable, '-m', 'benchmarks.models', *args],
    cwd=_ROOT,
    capture_output=True,
    text=True,
    check=False,
  )


class MainTest(absltest.TestCase):
  def test_writes_the_bytes_that_build_returns(self):
    path = pathlib.Path(self.create_tempdir().full_path) / 'new' / 'moe.meta'
    run = _run(
      '--model=mixture_of_experts',
      '--training',
      '--batch_size=4',
      f'--output={path}',
    )
    self.assertEqual(run.returncode, 0, run.stderr)
    self.assertStartsWith(run.stdout, f'{path}: mixture_of_experts, ')
    self.assertEqual([p.name for p in path.parent.iterdir()], ['moe.meta'])
    read = tf.compat.v1.MetaGraphDef.FromString(path.read_bytes())
    built = base.build('mixture_of_experts', training=True, batch_size=4)
    self.assertEqual(read, built)

  def test_unknown_model(self):
    run = _run('--model=nope', '--output=/dev/null')
    self.assertEqual(run.returncode, 1)
    self.assertIn('nope', run.stdout + run.stderr)
    self.assertIn('inception_v3', run.stdout + run.stderr)


if __name__ == '__main__':
  absltest.main()
