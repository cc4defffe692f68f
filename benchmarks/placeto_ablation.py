"""What each departure of Placeto from the paper is worth.

    python -m benchmarks.placeto_ablation --rounds=60
    python -m benchmarks.placeto_ablation --render

Each variant of the configuration is trained from random weights for the same
number of rounds on the halves `train` of the families on several simulated
devices, as `placeto_pretraining.py` does, and then places the first graphs of
the halves `test` on `--devices`, without training on them: the mean step, op by
op, over that of the best single device. Lower is better. Also the mean reward
at the end of the last episodes (minus the step over the single device's), and
what was simulated.

A run is a line of `--runs` (JSON); runs that are there are not made again.
`--render` writes the table.
"""

import datetime
import json
import pathlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from absl import app
from absl import flags

from benchmarks import families
from benchmarks import learned_table_text
from benchmarks import placeto_pretraining
from placer.devices import target
from placer.policies.learning import evaluation
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import zero_shot
from placer.simulation import simulator

_RESULTS = pathlib.Path(__file__).parent / 'results'
VARIANTS: Mapping[str, Mapping[str, Any]] = {
  'default': {},
  'without message passing': {'message_passing': False},
  'without structure': {'structure': False},
  'reward at the end only': {'reward_every': 0},
  'reward at each step': {'reward_every': 1},
  'REINFORCE, one update a batch': {'epochs': 1},
  'no discount': {'discount': 1.0},
  'baseline of the last 10 episodes': {'own_baseline': False},
  'topological order only': {'order': 'topological'},
  'no episodes that go on': {'restart': 1.0},
}
_HEAD = """\
# Placeto: what each departure from the paper is worth

Trained from random weights for {rounds} updates on the halves `train` of the
families, then {graphs} graphs of the halves `test` placed without training on
them, on {devices}: the mean step, simulated op by op, over that of the best
single device; lower is better. One seed: differences below some 0.01 are noise.
`python -m benchmarks.placeto_ablation`, rendered {date}.

| variant | step over single device | reward at the end | samples |
|---|---|---|---|
"""


def run(config: config_lib.PlacetoConfig, graphs, tests, rounds: int):
  """JSON values of one variant.

  Args:
    config: settings.
    graphs: problems to train on.
    tests: problems with costs, op by op.
    rounds: updates.
  """
  begin = time.monotonic()
  trainer = placeto_pretraining.make_trainer(config, graphs)
  size = min(config.graphs, len(graphs))
  while trainer.updates < rounds * size:
    trainer.run(samples=trainer.samples + 1)
  ratios = []
  for problem in tests:
    rows = zero_shot.place(
      trainer.learner.network, config, problem, sample=trainer.learner.sample
    )
    batch = simulator.simulate(problem, problem.costs, rows)
    single = evaluation.reference_seconds(
      problem, evaluation.Simulated([problem])
    )
    ratios.append(float(np.nanmin(batch.step_time_seconds)) / single)
  last = trainer.curve[-10 * size :]
  return {
    'ratio': float(np.mean(ratios)),
    'reward': float(np.mean([line['reward'] for line in last])),
    'samples': trainer.samples,
    'wall_seconds': round(time.monotonic() - begin, 1),
  }


def render(runs: Sequence[Mapping[str, Any]]) -> str:
  """The Markdown text of all runs."""
  lines = [
    _HEAD.format(
      rounds=runs[0]['rounds'],
      graphs=runs[0]['tests'],
      devices=runs[0]['devices'],
      date=datetime.date.today(),
    ).rstrip('\n')
  ]
  for found in runs:
    lines.append(
      f'| {found["variant"]} | {found["ratio"]:.3f} | {found["reward"]:.3f} '
      f'| {found["samples"]:,} |'
    )
  return '\n'.join([*lines, ''])


def main(unused_argv: Sequence[str]) -> None:
  """Makes the runs that are missing, or renders the table."""
  file = pathlib.Path(_RUNS.value)
  runs = learned_table_text.read(file)
  if _RENDER.value:
    (_RESULTS / 'placeto_ablation.md').write_text(render(runs))
    return
  devices = target.resolve(_DEVICES.value)
  tests = [
    problem
    for family in placeto_pretraining.FAMILIES
    for problem in _first(family, devices, _TESTS.value)
  ]
  graphs = placeto_pretraining.problems(
    placeto_pretraining.FAMILIES, 'train', _COUNT.value, 0
  )
  done = {found['variant'] for found in runs}
  for name in [name for name in VARIANTS if name not in done]:
    config = placeto_pretraining.from_scratch(_ROUNDS.value, **VARIANTS[name])
    line = {
      'variant': name,
      'rounds': _ROUNDS.value,
      'tests': len(tests),
      'devices': _DEVICES.value,
      **run(config, graphs, tests, _ROUNDS.value),
    }
    with file.open('a') as stream:
      stream.write(json.dumps(line) + '\n')
    print(json.dumps(line), flush=True)


def _first(family: str, devices, count: int):
  """The first problems of a test half; no more are made."""
  made = families.problems(family, 'test', devices)
  return [problem for _, (_, problem) in zip(range(count), made)]


if __name__ == '__main__':
  _RUNS = flags.DEFINE_string(
    'runs', str(_RESULTS / 'placeto_ablation.jsonl'), 'A line a run.'
  )
  _RENDER = flags.DEFINE_boolean('render', False, 'Write the table.')
  _ROUNDS = flags.DEFINE_integer('rounds', 60, 'Updates of the network.')
  _TESTS = flags.DEFINE_integer('tests', 3, 'Graphs of each test half.')
  _COUNT = flags.DEFINE_integer('devices_per_graph', 2, 'To train on.')
  _DEVICES = flags.DEFINE_string('devices', 'simulated:k80x4', 'To test on.')
  app.run(main)
