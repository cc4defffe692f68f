"""What each part of the learned policies is good for: one table.

    python -m benchmarks.learned_ablations
    python -m benchmarks.learned_ablations --render

Variants of the default configuration, one change each, trained in simulation on
the same number of samples; also the papers' own configurations, and the learned
grouping beside fixed groups (`grouper_placer` beside `seq2seq`). As in
`learned_table.py` a run is a line of `--runs` and is not made twice.
"""

import dataclasses
import json
import pathlib
import statistics
import time
from collections.abc import Sequence
from typing import Any

from absl import app
from absl import flags

from benchmarks import learned_problems
from benchmarks import learned_table
from benchmarks import learned_table_text
from placer.policies import registry

_RESULTS = pathlib.Path(__file__).parent / 'results'
PROBLEMS = (('inception_v3', 'simulated:k80x2'), ('nmt_2', 'simulated:k80x4'))
# Changes of the learner's settings, by variant.
CHANGES: dict[str, dict[str, Any]] = {
  'default': {},
  'per-step baseline, not EMA': {'baseline': 'per_step'},
  'REINFORCE, not PPO': {'algorithm': 'reinforce', 'epochs': 1},
  'relative reward, not sqrt': {'reward': 'relative'},
  'no elites': {'elites': 0},
  'no warm start': {'warm_start': ()},
}
PAPER = "the paper's configuration"
_HEAD = """\
# Ablations of the learned policies

Milliseconds a step of the best placement after {samples} samples, simulated op
by op, lower is better; training steps in at most 128 groups. The median of the
seeds ({seeds}). `seq2seq` has fixed groups, `grouper_placer` learns to group
them. One change of the default configuration a row.

"""


def config_of(policy: str, variant: str) -> Any:
  """The configuration of a variant.

  Args:
    policy: its name.
    variant: one of `CHANGES`, or `PAPER`.
  """
  configs = registry.get(policy).configs
  if variant == PAPER:
    return configs['paper']
  learning = dataclasses.replace(
    configs['default'].learning, **CHANGES[variant]
  )
  return dataclasses.replace(configs['default'], learning=learning)


def render(runs: Sequence[dict[str, Any]]) -> str:
  """The Markdown table of all runs."""
  columns = list(
    dict.fromkeys((r['policy'], r['model'], r['devices']) for r in runs)
  )
  titles = [
    f'{policy}: {model}, {devices.removeprefix("simulated:")}'
    for policy, model, devices in columns
  ]
  seeds = sorted({run['seed'] for run in runs})
  samples = statistics.median(run['samples'] for run in runs)
  lines = [['', *titles], ['---'] * (len(titles) + 1)]
  for variant in (*CHANGES, PAPER):
    cells = []
    for policy, model, devices in columns:
      found = [
        1e3 * run['step_seconds']
        for run in runs
        if run['variant'] == variant
        and run['step_seconds'] is not None
        and (run['policy'], run['model'], run['devices'])
        == (policy, model, devices)
      ]
      cells.append(f'{statistics.median(found):.1f}' if found else '')
    lines.append([variant, *cells])
  table = ''.join(f'| {" | ".join(line)} |\n' for line in lines)
  head = _HEAD.format(samples=int(samples), seeds=', '.join(map(str, seeds)))
  return head + table


def main(unused_argv: Sequence[str]) -> None:
  """Makes the runs that are missing, or renders the table."""
  file = pathlib.Path(_RUNS.value)
  runs = learned_table_text.read(file)
  if _RENDER.value:
    target = _RESULTS / 'learned_ablations.md'
    notes = learned_table_text.notes(target)
    target.write_text(render(runs) + notes)
    print(target)
    return
  keys = ('variant', 'model', 'devices', 'policy', 'seed')
  done = {tuple(run[key] for key in keys) for run in runs}
  for seed in range(_SEEDS.value):
    for variant in (*CHANGES, PAPER):
      for model, devices in PROBLEMS:
        for policy in _POLICIES.value:
          values = (variant, model, devices, policy, seed)
          if values in done:
            continue
          begin = time.monotonic()
          found = learned_table.learned(
            learned_problems.load(model, devices),
            policy,
            config_of(policy, variant),
            seed,
            _SAMPLES.value,
          )
          line = dict(zip(keys, values)) | found
          line['wall_seconds'] = round(time.monotonic() - begin, 1)
          with file.open('a') as stream:
            stream.write(json.dumps(line) + '\n')
          print(*values, line['step_seconds'], flush=True)


if __name__ == '__main__':
  _RUNS = flags.DEFINE_string(
    'runs', str(_RESULTS / 'learned_ablations.jsonl'), 'A line a run.'
  )
  _RENDER = flags.DEFINE_boolean('render', False, 'Write the table.')
  _POLICIES = flags.DEFINE_list(
    'policies', ['seq2seq', 'grouper_placer'], 'Which to run.'
  )
  _SEEDS = flags.DEFINE_integer('seeds', 1, 'Seeds 0 …', lower_bound=1)
  _SAMPLES = flags.DEFINE_integer('samples', 1024, 'Of a run.', lower_bound=1)
  app.run(main)
