"""From file to PlacementProblem, against `tf.import_graph_def` alone.

    python -m benchmarks.import_benchmark --model=nasnet_large --training

Runs both in child processes of their own, in turn (A B A B), on the same file
of a built-in model, and prints the ratios of wall time and of peak memory; the
bars are 3x and 2x. Both children start with TensorFlow imported; the clock
runs from reading the file on; memory is the process' peak resident size. Exit
code 1 when a bar is missed.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence

from absl import app
from absl import flags

from placer.cli import builtin_models

_MODEL = flags.DEFINE_string('model', 'nasnet_large', 'Built-in model.')
_TRAINING = flags.DEFINE_bool('training', True, 'Its training step.')
_ROUNDS = flags.DEFINE_integer('rounds', 3, 'Runs of each.', lower_bound=1)

_TIME_BAR = 3.0
_MEMORY_BAR = 2.0

_ALONE = """
import json, resource, sys, time
import tensorflow as tf
start = time.perf_counter()
with open(sys.argv[1], 'rb') as file:
  meta_graph = tf.compat.v1.MetaGraphDef.FromString(file.read())
with tf.Graph().as_default() as graph:
  tf.graph_util.import_graph_def(meta_graph.graph_def, name='')
seconds = time.perf_counter() - start
"""
_OURS = """
import json, resource, sys, time
import tensorflow as tf
from placer.devices import target
from placer.importers import base
from placer.problems import build
devices = target.resolve('logical:2')
start = time.perf_counter()
imported = base.load(sys.argv[1])
problem = build.build(imported, devices)
seconds = time.perf_counter() - start
"""
_REPORT = """
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({'seconds': seconds, 'peak_bytes': peak}))
"""


def main(argv: Sequence[str]) -> None:
  """Runs the benchmark."""
  del argv
  file = builtin_models.path_of(
    _MODEL.value, training=_TRAINING.value, batch_size=None
  )
  runs = {'alone': [], 'ours': []}
  for _ in range(_ROUNDS.value):
    runs['alone'].append(_child(_ALONE, file))
    runs['ours'].append(_child(_OURS, file))
  pairs = list(zip(runs['alone'], runs['ours'], strict=True))
  missed = False
  for key, unit, scale, bar in (
    ('seconds', 's', 1.0, _TIME_BAR),
    ('peak_bytes', 'MB', 1e6, _MEMORY_BAR),
  ):
    ratio = statistics.median(ours[key] / alone[key] for alone, ours in pairs)
    middle = {
      name: statistics.median(run[key] for run in found) / scale
      for name, found in runs.items()
    }
    missed |= ratio > bar
    print(
      f'{key:10}  import_graph_def {middle["alone"]:8.2f} {unit}   placer '
      f'{middle["ours"]:8.2f} {unit}   ratio {ratio:.2f} (bar {bar:.0f})'
    )
  sys.exit(int(missed))


def _child(code: str, file: str) -> dict[str, float]:
  environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL='3')
  environment['PYTHONPATH'] = os.pathsep.join(p for p in sys.path if p)
  environment['CUDA_VISIBLE_DEVICES'] = '-1'
  done = subprocess.run(
    [sys.executable, '-c', code + _REPORT, file],
    env=environment,
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
    text=True,
    check=True,
  )
  return json.loads(done.stdout.splitlines()[-1])


if __name__ == '__main__':
  app.run(main)
