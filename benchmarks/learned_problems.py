"""The problems of the learned policies' tables: training steps, 128 groups.

    python -m benchmarks.learned_problems        makes and caches all of them

Each is a built-in model's training step on simulated K80s, coarsened to at most
128 groups, with roofline costs. Importing the large ones takes minutes, so a
problem is kept in placer's cache folder, named by the model's file, the devices
and the sources that decide what is in it.
"""

import hashlib
import os
import pathlib
import pickle
import time
from collections.abc import Sequence

from absl import app

import placer
from benchmarks import planner_benchmark
from placer.cli import builtin_models
from placer.core import cache_folder
from placer.core import placement_problem
from placer.importers import base

MODELS = (
  'inception_v3',
  'resnet50',
  'nmt_2',
  'rnnlm',
  'nmt_4',
  'nasnet_large',
)
DEVICES = ('simulated:k80x2', 'simulated:k80x4')
GROUPS = 128
_SOURCES = ('core', 'importers', 'problems', 'simulation')


def load(
  model: str, devices: str, groups: int = GROUPS
) -> placement_problem.PlacementProblem:
  """A problem, from the cache if it is there.

  Args:
    model: a built-in model, 'inception_v3'.
    devices: of simulated devices, 'simulated:k80x2'.
    groups: at most so many.

  Returns:
    The PlacementProblem, with costs.
  """
  path = builtin_models.path_of(model, training=True, batch_size=None)
  key = f'{pathlib.Path(path).name} {devices} {groups} {_sources_digest()}'
  name = f'{model}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.pickle'
  file = cache_folder.find('learned_problems') / name
  if not file.exists():
    problem = planner_benchmark.build_problem(base.load(path), devices, groups)
    partial = file.with_suffix(f'.{os.getpid()}')
    partial.write_bytes(pickle.dumps(problem))
    partial.replace(file)
  return pickle.loads(file.read_bytes())


def _sources_digest() -> str:
  folder = pathlib.Path(placer.__file__).parent
  digest = hashlib.sha256()
  for layer in _SOURCES:
    for file in sorted((folder / layer).rglob('*.py')):
      if not file.name.endswith('_test.py'):
        digest.update(file.read_bytes())
  return digest.hexdigest()


def main(unused_argv: Sequence[str]) -> None:
  """Makes all of them; prints a line each."""
  for model in MODELS:
    for devices in DEVICES:
      begin = time.monotonic()
      problem = load(model, devices)
      print(
        f'{model} {problem.devices.spec}: {len(problem.graph):,} ops, '
        f'{problem.num_groups} groups, {time.monotonic() - begin:.0f} s',
        flush=True,
      )


if __name__ == '__main__':
  app.run(main)
