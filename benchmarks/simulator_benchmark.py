"""How fast the simulator is, against the reference and its bars.

    python -m benchmarks.simulator_benchmark --plot=growth.svg

Prints, for the built-in Inception-V3's inference graph and random placements:

* seconds from the first call to its result, with nothing in numba's cache and
  with all in it, each in a process of its own;
* nanoseconds for each op and edge of a placement, batches of 1,000: at most
  35; and the ratio to the plain reference, in turn (A B A B): at least 150;
* placements a second of a problem with 128 groups (simulation/coarse.py): at
  least 100,000;
* the same for synthetic graphs from 1,000 to 100,000 ops, and the exponent of
  the growth: at most 1.2, where 1 is linear.

Times are of the best round, since other programs only add to them, with the
median beside. Exit code 1 when a bar is missed.
"""

import datetime
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np
from absl import app
from absl import flags

from placer.cli import builtin_models
from placer.core import op_graph
from placer.core import placement_problem
from placer.importers import base
from placer.problems import build
from placer.simulation import coarse
from placer.simulation import reference
from placer.simulation import roofline
from placer.simulation import simulated_devices
from placer.simulation import simulator

_MODEL = flags.DEFINE_string('model', 'inception_v3', 'Built-in model.')
_DEVICES = flags.DEFINE_list(
  'devices',
  ['simulated:k80x2', 'simulated:k80x4', 'simulated:cpu_corex2'],
  'Simulated devices; each is measured and has to keep the bars.',
)
_ROUNDS = flags.DEFINE_integer('rounds', 9, 'Rounds.', lower_bound=1)
_PLOT = flags.DEFINE_string('plot', '', 'File for a plot of the growth (SVG).')

_BATCH = 1000
_NANOSECONDS_BAR = 35.0
_RATIO_BAR = 150.0
_PLACEMENTS_BAR = 100_000.0
_EXPONENT_BAR = 1.2
_SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
# In a process of its own: seconds of the first call.
_FIRST_CALL = """
import time
import numpy as np
from placer.core import cost_model, device, op_graph, placement_problem
start = time.perf_counter()
from placer.simulation import simulator
devices = device.DeviceTopology('x', (device.Device('/device:CPU:0'),))
none = np.zeros(0, np.int32)
graph = op_graph.OpGraph(
  ('a',), ('NoOp',), none, none, none, none, none, none, none.astype(bool),
  np.zeros(1), np.zeros(1, np.int64), ('',))
problem = placement_problem.PlacementProblem(
  graph, devices, np.zeros(1, np.int32), np.ones((1, 1), bool), ('a',))
costs = cost_model.build(graph, devices, [1.0])
simulator.simulate(problem, costs, [[0]])
print(time.perf_counter() - start)
"""


def main(unused_argv: Sequence[str]) -> None:
  """Runs the benchmark."""
  print(_hardware())
  _first_calls()
  kept = True
  file = builtin_models.path_of(_MODEL.value, training=False, batch_size=8)
  imported = base.load(file)
  for spec in _DEVICES.value:
    devices = simulated_devices.parse(spec).topology()
    problem = build.build(imported, devices)
    kept &= _op_level(problem)
    kept &= _group_level(build.build(imported, devices, max_groups=128))
  kept &= _growth()
  sys.exit(0 if kept else 1)


def _hardware() -> str:
  model = ''
  for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines():
    if line.startswith('model name'):
      model = line.partition(':')[2].strip()
  cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
  return f'{datetime.date.today()}, {cores} cores of {model}, load {load:.1f}'


def _first_calls() -> None:
  environment = dict(os.environ)
  environment['PYTHONPATH'] = os.pathsep.join(p for p in sys.path if p)
  environment.pop('NUMBA_CACHE_DIR', None)
  with tempfile.TemporaryDirectory() as folder:
    environment['PLACER_CACHE_DIR'] = folder
    seconds = [
      float(
        subprocess.run(
          [sys.executable, '-c', _FIRST_CALL],
          env=environment,
          stdout=subprocess.PIPE,
          text=True,
          check=True,
        ).stdout
      )
      for _ in range(4)
    ]
  print(
    f'first call: {seconds[0]:.2f} s with an empty cache, '
    f'{min(seconds[1:]):.2f} s after'
  )


def _op_level(problem: placement_problem.PlacementProblem) -> bool:
  """Every op by itself, against the reference; whether the bars are kept."""
  costs = roofline.cost_model_of(problem.graph, problem.devices)
  candidates = _candidates(problem)
  compiled = simulator.Simulator(problem, costs)
  plain = reference.Reference(problem, costs)
  size = _size(problem.graph)
  rounds = []
  for _ in range(_ROUNDS.value + 1):
    fast = _seconds(lambda: compiled.simulate(candidates)) / _BATCH
    slow = _seconds(lambda: plain.schedule(candidates[0]))
    rounds.append((fast, slow))
  del rounds[0]  # the first one compiles
  best = min(fast for fast, _ in rounds)
  ratio = statistics.median(slow / fast for fast, slow in rounds)
  middle = statistics.median(fast for fast, _ in rounds)
  nanoseconds = best / size * 1e9
  print(
    f'{problem.devices.spec}, {len(problem.graph)} ops, {size} ops and edges: '
    f'{best * 1e6:.1f} us a placement (median {middle * 1e6:.1f}), '
    f'{nanoseconds:.1f} ns an op or edge (bar {_NANOSECONDS_BAR:.0f}), '
    f'{ratio:.0f} x the reference (bar {_RATIO_BAR:.0f})'
  )
  return nanoseconds <= _NANOSECONDS_BAR and ratio >= _RATIO_BAR


def _group_level(problem: placement_problem.PlacementProblem) -> bool:
  """Groups as ops; whether the bar is kept."""
  costs = roofline.cost_model_of(problem.graph, problem.devices)
  small = coarse.coarse_problem(problem, costs)
  compiled = simulator.Simulator(small.problem, small.cost_model)
  candidates = np.tile(_candidates(problem), (10, 1))
  rounds = [
    _seconds(lambda: compiled.simulate(candidates)) / len(candidates)
    for _ in range(_ROUNDS.value)
  ]
  best, middle = 1 / min(rounds), 1 / statistics.median(rounds)
  print(
    f'{problem.devices.spec}, {problem.num_groups} groups as '
    f'{len(small.problem.graph)} ops: {best:,.0f} placements a second (median '
    f'{middle:,.0f}; bar {_PLACEMENTS_BAR:,.0f})'
  )
  return best >= _PLACEMENTS_BAR


def _growth() -> bool:
  """Synthetic graphs of growing size; whether the bar is kept."""
  print('growth, simulated:k80x2, 256 groups:')
  sizes, times = [], []
  for ops in _SIZES:
    problem = _synthetic(ops)
    costs = roofline.cost_model_of(problem.graph, problem.devices)
    compiled = simulator.Simulator(problem, costs)
    candidates = _candidates(problem)[: max(20, 2_000_000 // ops)]
    compiled.simulate(candidates)
    best = min(
      _seconds(lambda: compiled.simulate(candidates))  # noqa: B023
      for _ in range(_ROUNDS.value)
    ) / len(candidates)
    sizes.append(_size(problem.graph))
    times.append(best)
    bar = '#' * round(10 * float(np.log2(best / times[0] + 1)))
    print(
      f'{ops:>8,} ops {sizes[-1]:>8,} ops and edges {best * 1e6:>10,.1f} us '
      f'{best / sizes[-1] * 1e9:>6.1f} ns an op or edge {bar}'
    )
  exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
  print(f'exponent {exponent:.2f} (bar {_EXPONENT_BAR})')
  if _PLOT.value:
    text = plot(sizes, [seconds * 1e6 for seconds in times])
    pathlib.Path(_PLOT.value).write_text(text)
    print(f'wrote {_PLOT.value}')
  return exponent <= _EXPONENT_BAR


def _synthetic(ops: int) -> placement_problem.PlacementProblem:
  """One to two inputs an op, from some 20 ops before it."""
  rng = np.random.default_rng(0)
  target = np.repeat(np.arange(ops), rng.choice([1, 1, 1, 2], ops))
  source = target - rng.geometric(0.05, len(target))
  target, source = target[source >= 0], source[source >= 0]
  devices = simulated_devices.parse('simulated:k80x2').topology()
  names = tuple(f'op_{i}' for i in range(ops))
  graph = op_graph.OpGraph(
    names=names,
    types=('MatMul',) * ops,
    tensor_source=np.arange(ops, dtype=np.int32),
    tensor_bytes=rng.integers(1, 1_000_000, ops),
    tensor_shape_known=np.ones(ops, bool),
    edge_source=source.astype(np.int32),
    edge_target=target.astype(np.int32),
    edge_tensor=source.astype(np.int32),
    edge_is_back=np.zeros(len(source), bool),
    flops=10 ** rng.uniform(6, 9, ops),
    persistent_bytes=np.zeros(ops, np.int64),
    original_devices=('',) * ops,
  )
  groups = min(256, ops)
  return placement_problem.PlacementProblem(
    graph=graph,
    devices=devices,
    op_group=(np.arange(ops) * groups // ops).astype(np.int32),
    allowed=np.ones((groups, len(devices)), bool),
    group_names=tuple(str(group) for group in range(groups)),
  )


def plot(sizes: Sequence[float], microseconds: Sequence[float]) -> str:
  """An SVG plot of time over size, both logarithmic, with a linear line.

  Args:
    sizes: ops and edges, ascending.
    microseconds: a placement, of each size.

  Returns:
    The text of the SVG file.
  """
  left, top, width, height = 70, 20, 420, 280
  x = np.log10(np.asarray(sizes, float))
  y = np.log10(np.asarray(microseconds, float))
  linear = y[0] + x - x[0]
  low, high = min(y.min(), linear.min()), max(y.max(), linear.max())

  def at(a, b) -> str:
    across = left + width * (a - x[0]) / max(x[-1] - x[0], 1e-9)
    down = top + height * (high - b) / max(high - low, 1e-9)
    return f'{across:.1f},{down:.1f}'

  def line(values, style: str) -> str:
    points = ' '.join(at(a, b) for a, b in zip(x, values, strict=True))
    return f'<polyline points="{points}" fill="none" {style}/>'

  labels = []
  for a, b, size, value in zip(x, y, sizes, microseconds, strict=True):
    across, down = at(a, b).split(',')
    labels += [
      f'<circle r="3" cx="{across}" cy="{down}"/>',
      f'<text x="{across}" y="{top + height + 18}" text-anchor="middle">'
      f'{size:,.0f}</text>',
      f'<text x="{left - 8}" y="{down}" text-anchor="end">{value:,.0f}</text>',
    ]
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 520 350" '
    'font-family="sans-serif" font-size="11">'
    '<rect width="520" height="350" fill="white"/>'
    + line(linear, 'stroke="#999" stroke-dasharray="4 4"')
    + line(y, 'stroke="#1f6feb" stroke-width="2"')
    + ''.join(labels)
    + '<text x="280" y="340" text-anchor="middle">ops and edges</text>'
    '<text x="76" y="32">us a placement; dashed: linear</text></svg>\n'
  )


def _candidates(problem: placement_problem.PlacementProblem) -> np.ndarray:
  """int32 `[_BATCH, G]`: random legal candidates."""
  rng = np.random.default_rng(0)
  scores = rng.random((_BATCH, *problem.allowed.shape))
  return np.where(problem.allowed, scores, -1).argmax(axis=2).astype(np.int32)


def _size(graph: op_graph.OpGraph) -> int:
  return len(graph) + len(graph.edge_source)


def _seconds(run: Callable[[], object]) -> float:
  start = time.perf_counter()
  run()
  return time.perf_counter() - start


if __name__ == '__main__':
  app.run(main)
