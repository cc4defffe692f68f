"""Placeto beside the sequence policies: the paper's Table 1, in simulation.

    python -m benchmarks.placeto_table1
    python -m benchmarks.placeto_table1 --render

For the training steps of the paper's models on 2 and 4 simulated K80s: what the
weights that come with placer make of the graph, which they were not trained on,
from one device and random placements only. `search` is the default;
`small_search` follows one placement instead of eight, for few samples. A
sample is a placement that is simulated, in groups or op by op; the curve is
that of the best so far, op by op.

A run is a line of `--runs` (JSON), written when it is done; runs that are there
are not made again. `--render` writes the table, with `seq2seq` and the planners
from the runs of `learned_table.py`: Placeto's step, and after how many samples
it is at seq2seq's final one.
"""

import dataclasses
import json
import pathlib
import statistics
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from absl import app
from absl import flags

from benchmarks import learned_problems
from benchmarks import learned_table_text
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import guided_search
from placer.policies.placeto import weights
from placer.policies.placeto import zero_shot
from placer.simulation import simulator

_RESULTS = pathlib.Path(__file__).parent / 'results'
MODELS = ('inception_v3', 'nmt_2', 'nmt_4', 'nasnet_large')
DEVICES = ('simulated:k80x2', 'simulated:k80x4')
SEARCHES = {
  'search': guided_search.GuidedSearchConfig(),
  'small_search': guided_search.GuidedSearchConfig(
    leaders=1, temperatures=(0.0, 1.0)
  ),
}
_COLD = dataclasses.replace(config_lib.PlacetoConfig(), warm_start=())
_HEAD = """\
# Placeto's Table 1, in simulation

Training steps in at most 128 groups on simulated K80s, roofline costs;
milliseconds a step, simulated op by op, the median of the seeds; in brackets
the placements that were simulated. Placeto: the weights that come with placer,
which have not seen these graphs, no training on them, no planner to start from.
seq2seq is trained on each graph, with planners to start from. "At seq2seq's
step after": samples until Placeto's best is at least as fast as seq2seq's last,
the median of the seeds that come there. Made by
`python -m benchmarks.placeto_table1`; seq2seq and planners by
`benchmarks.learned_table`. 2 cores of a shared x86 VM.

"""


def run(problem, search: guided_search.GuidedSearchConfig, seed: int):
  """One run.

  Args:
    problem: with costs.
    search: settings.
    seed: of its draws.

  Returns:
    JSON values: step_seconds, samples, wall_seconds, curve [(samples, step)].
  """
  counts: list[int] = []
  bests: list[np.ndarray] = []

  def watch(rows: np.ndarray, seconds: np.ndarray) -> None:
    counts.append(len(rows))
    bests.append(rows[seconds.argmin()])

  begin = time.monotonic()
  zero_shot.place(
    weights.pretrained()[0],
    _COLD,
    problem,
    seed=seed,
    config=zero_shot.ZeroShotConfig(search=search),
    sample=zero_shot.pretrained_sampler(),
    watch=watch,
  )
  wall = time.monotonic() - begin
  batch = simulator.simulate(problem, problem.costs, np.stack(bests))
  steps = np.nan_to_num(batch.step_time_seconds, nan=np.inf)
  best = np.minimum.accumulate(steps)
  is_better = np.append(True, np.diff(best) < 0)
  samples = np.cumsum(counts)
  return {
    'step_seconds': float(best[-1]),
    'samples': int(samples[-1]),
    'wall_seconds': round(wall, 1),
    'curve': [
      (int(samples[i]), float(best[i])) for i in np.flatnonzero(is_better)
    ],
  }


def render(runs: Sequence[dict[str, Any]], others) -> str:
  """The table.

  Args:
    runs: of this benchmark.
    others: of `learned_table.py`.
  """
  lines = [
    [
      'problem',
      'single device',
      'expert',
      'scotch',
      'annealing',
      'seq2seq',
      *(f'Placeto, {name}' for name in SEARCHES),
      *(f"at seq2seq's step after, {name}" for name in SEARCHES),
    ]
  ]
  lines.append(['---'] * len(lines[0]))
  for model, devices in dict.fromkeys((r['model'], r['devices']) for r in runs):
    here = [
      [r for r in some if (r['model'], r['devices']) == (model, devices)]
      for some in (runs, others)
    ]
    lines.append(_line(model, devices, *here))
  return _HEAD + ''.join(f'| {" | ".join(line)} |\n' for line in lines)


def _line(model, devices, runs, others) -> list[str]:
  def median(name, key='step_seconds'):
    return statistics.median(r[key] for r in others if r['policy'] == name)

  def own(name):
    return [r for r in runs if r['search'] == name]

  cells = [f'{model}, {devices.removeprefix("simulated:")}']
  for name in ('single_device', 'expert', 'scotch', 'annealing'):
    cells.append(f'{1e3 * median(name):.1f}')
  final = median('seq2seq')
  cells.append(f'{1e3 * final:.1f} ({median("seq2seq", "samples"):,.0f})')
  for name in SEARCHES:
    step = statistics.median(r['step_seconds'] for r in own(name))
    count = statistics.median(r['samples'] for r in own(name))
    cells.append(f'{1e3 * step:.1f} ({count:,.0f})')
  for name in SEARCHES:
    reached = [found for r in own(name) if (found := _reaches(r, final))]
    said = f'{statistics.median(reached):,.0f}, ' if reached else ''
    cells.append(f'{said}{len(reached)} of {len(own(name))} seeds')
  return cells


def _reaches(found: dict[str, Any], seconds: float) -> int | None:
  """Samples until a step is at most so long; None if never."""
  return next((n for n, step in found['curve'] if step <= seconds), None)


def _wanted(seeds: int) -> Iterator[tuple[str, str, str, int]]:
  for seed in range(seeds):
    for model in MODELS:
      for devices in DEVICES:
        for name in SEARCHES:
          yield model, devices, name, seed


def main(unused_argv: Sequence[str]) -> None:
  """Makes the runs that are missing, or renders the table."""
  file = pathlib.Path(_RUNS.value)
  runs = learned_table_text.read(file)
  if _RENDER.value:
    others = learned_table_text.read(_RESULTS / 'learned_runs.jsonl')
    target = _RESULTS / 'placeto_table1.md'
    target.write_text(render(runs, others))
    print(target)
    return
  done = {(r['model'], r['devices'], r['search'], r['seed']) for r in runs}
  for key in _wanted(_SEEDS.value):
    if key not in done:
      model, devices, name, seed = key
      problem = learned_problems.load(model, devices)
      line = dict(zip(('model', 'devices', 'search', 'seed'), key, strict=True))
      line |= run(problem, SEARCHES[name], seed)
      with file.open('a') as stream:
        stream.write(json.dumps(line) + '\n')
      print(*key, line['step_seconds'], line['wall_seconds'], flush=True)


if __name__ == '__main__':
  _RUNS = flags.DEFINE_string(
    'runs', str(_RESULTS / 'placeto_table1.jsonl'), 'A line a run.'
  )
  _RENDER = flags.DEFINE_boolean('render', False, 'Write the table.')
  _SEEDS = flags.DEFINE_integer('seeds', 3, 'Seeds 0 …', lower_bound=1)
  app.run(main)
