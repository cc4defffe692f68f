"""Learned policies beside the planners: the papers' table, in simulation.

    python -m benchmarks.learned_table --policies=seq2seq,grouper_placer
    python -m benchmarks.learned_table --render

For each problem of `learned_problems.py`, policy and seed: the step of the best
placement, simulated op by op; for learned policies also how many samples they
had needed to come within 2 % of their final step, and the curve. A run is a
line of `--runs` (JSON), written when it is done; runs that are there are not
made again, so a killed table goes on. `--render` writes the Markdown table of
all runs; a policy is a column, in the order of `COLUMNS`, others after them.

Learned policies train in simulation with their default configuration, on
`--samples` placements. Seconds are wall time, of a busy host if it was busy.
"""

import dataclasses
import json
import pathlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from absl import app
from absl import flags

from benchmarks import learned_problems
from benchmarks import learned_table_text
from placer.core import placement_problem
from placer.policies import lower_bound
from placer.policies import registry
from placer.simulation import coarse
from placer.simulation import simulator

_RESULTS = pathlib.Path(__file__).parent / 'results'
BOUND = 'lower_bound'
# They have no seed, or do not use it.
DETERMINISTIC = (
  'single_device',
  'expert',
  'scotch',
  'metis',
  'm_etf',
  BOUND,
)
_MOST_SUGGESTIONS = 16
_NEAR = 1.02


def measure(
  problem: placement_problem.PlacementProblem,
  policy: str,
  seed: int,
  samples: int,
) -> dict[str, Any]:
  """One run.

  Args:
    problem: with costs.
    policy: its name, or `BOUND`.
    seed: of the policy.
    samples: of a learned policy.

  Returns:
    JSON values: step_seconds (None where nothing runs) and wall_seconds; of a
    learned policy also samples, samples_to_near and curve.
  """
  begin = time.monotonic()
  if policy == BOUND:
    small = coarse.coarse_problem(problem, problem.costs)
    found = {
      'step_seconds': lower_bound.lower_bound(
        dataclasses.replace(small.problem, costs=small.cost_model), 0.0
      ).seconds
    }
  elif registry.get(policy).is_learned:
    config = registry.get(policy).configs['default']
    found = learned(problem, policy, config, seed, samples)
  else:
    found = _planned(problem, policy, seed)
  return found | {'wall_seconds': round(time.monotonic() - begin, 1)}


def _planned(problem, policy: str, seed: int) -> dict[str, Any]:
  suggested = registry.make(policy, problem, seed=seed).suggest(
    _MOST_SUGGESTIONS
  )
  if not suggested:
    return {'step_seconds': None}
  batch = simulator.simulate(
    problem, problem.costs, np.stack([each.candidate for each in suggested])
  )
  best = batch.best()
  return {
    'step_seconds': None
    if best is None
    else float(batch.step_time_seconds[best])
  }


def learned(
  problem: placement_problem.PlacementProblem,
  policy: str,
  config: Any,
  seed: int,
  samples: int,
) -> dict[str, Any]:
  """Trains a learned policy in simulation.

  Args:
    problem: with costs.
    policy: its name.
    config: of its kind.
    seed: of it.
    samples: placements.

  Returns:
    JSON values: step_seconds, samples, samples_to_near and curve.
  """
  # TensorFlow is for those who learn.
  from placer.policies.learning import evaluation
  from placer.policies.learning import training

  kind = registry.get(policy)
  evaluator = evaluation.Simulated([problem])
  learner = kind.make_learner(
    [problem],
    config,
    seed,
    [evaluation.reference_seconds(problem, evaluator)],
  )
  trainer = training.Trainer(learner, evaluator)
  trainer.run(samples=samples)
  curve = [
    (line['samples'], line['best_seconds'])
    for line in trainer.curve
    if line['best_seconds'] is not None
  ]
  best = trainer.best[0].best_seconds
  near = [count for count, seconds in curve if seconds <= _NEAR * best]
  return {
    'step_seconds': best if np.isfinite(best) else None,
    'samples': trainer.samples,
    'samples_to_near': near[0] if near else None,
    'curve': _changes(curve),
  }


def _changes(curve) -> list[tuple[int, float]]:
  """The points at which the best changed."""
  kept = []
  for count, seconds in curve:
    if not kept or seconds < kept[-1][1]:
      kept.append((count, seconds))
  return kept


def _wanted(
  policies: Sequence[str], seeds: int
) -> Iterator[tuple[str, str, str, int]]:
  """(model, devices, policy, seed) of each run."""
  for seed in range(seeds):
    for model in learned_problems.MODELS:
      for devices in learned_problems.DEVICES:
        for policy in policies:
          if seed == 0 or policy not in DETERMINISTIC:
            yield model, devices, policy, seed


def main(unused_argv: Sequence[str]) -> None:
  """Makes the runs that are missing, or renders the table."""
  file = pathlib.Path(_RUNS.value)
  runs = learned_table_text.read(file)
  if _RENDER.value:
    target = _RESULTS / 'learned_table.md'
    target.parent.mkdir(exist_ok=True)
    notes = learned_table_text.notes(target)
    target.write_text(learned_table_text.render(runs) + notes)
    print(target)
    return
  done = {(r['model'], r['devices'], r['policy'], r['seed']) for r in runs}
  for key in _wanted(_POLICIES.value, _SEEDS.value):
    if key in done:
      continue
    model, devices, policy, seed = key
    found = measure(
      learned_problems.load(model, devices), policy, seed, _SAMPLES.value
    )
    line = {
      'model': model,
      'devices': devices,
      'policy': policy,
      'seed': seed,
      **found,
    }
    with file.open('a') as stream:
      stream.write(json.dumps(line) + '\n')
    shown = {name: value for name, value in line.items() if name != 'curve'}
    print(json.dumps(shown), flush=True)


if __name__ == '__main__':
  _RUNS = flags.DEFINE_string(
    'runs', str(_RESULTS / 'learned_runs.jsonl'), 'A line a run.'
  )
  _RENDER = flags.DEFINE_boolean('render', False, 'Write the table.')
  _POLICIES = flags.DEFINE_list(
    'policies', list(learned_table_text.COLUMNS), 'Which to run.'
  )
  _SEEDS = flags.DEFINE_integer('seeds', 3, 'Seeds 0 …', lower_bound=1)
  _SAMPLES = flags.DEFINE_integer(
    'samples', 4096, 'Placements of a learned policy.', lower_bound=1
  )
  app.run(main)
