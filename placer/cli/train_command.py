"""Trains a learned policy, and keeps what it learned.

    placer train --model=inception_v3 --training --devices=simulated:k80x2
    placer train --graphs='nets/*.pb' --policy=placeto --devices=simulated:k80x4
    placer train --model=rnnlm --devices=local:2 --evaluate=devices

A policy that takes many graphs learns them all at once with --graphs; the
others learn one. Placements are simulated in batches, by costs that are
profiled if the devices are real, or with --evaluate=devices run on them. It
writes, in --output_dir:

    checkpoints/    weights, optimizer, baselines: for place --checkpoint=…
    curve.jsonl     a line an update: samples, best, reward, entropy …
    events/         the same for TensorBoard
    train.json      what was trained, and the best of each graph
    placements/     the best placement of each graph, op -> device

A training that is stopped or killed goes on where its last checkpoint was when
the same command is run again; with a larger budget a finished one goes on, too.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from absl import flags

from placer.cli import graph_flags
from placer.cli import paths
from placer.cli import policy_flags
from placer.cli import run_flags
from placer.cli import training_graphs
from placer.core import errors
from placer.policies import registry
from placer.reports import training_progress

SUMMARY = 'train a learned policy, in simulation or on the devices'
_DEFAULT_POLICY = 'grouper_placer'
# Running placements costs seconds each.
_MEASURED_SAMPLES = 60
_CHECKPOINT_UPDATES = 10


def define(values: flags.FlagValues) -> None:
  """Defines the command's flags in `values`."""
  graph_flags.define(values)
  run_flags.define(values)
  policy_flags.define_config(values)
  _define_what(values)
  _define_budget(values)


def _define_what(values: flags.FlagValues) -> None:
  flags.DEFINE_string(
    'graphs',
    '',
    "Instead of --graph, several files: 'family/*.pb'. Quote the pattern.",
    flag_values=values,
  )
  flags.DEFINE_string(
    'policy',
    _DEFAULT_POLICY,
    f'What to train: {", ".join(policy_flags.learned_names())}.',
    flag_values=values,
  )
  flags.DEFINE_enum(
    'evaluate',
    'simulator',
    ['simulator', 'devices'],
    'What tells the step times of placements.',
    flag_values=values,
  )


def _define_budget(values: flags.FlagValues) -> None:
  flags.DEFINE_integer(
    'budget_samples',
    None,
    'Placements to evaluate, over all graphs and resumed runs. Default: what '
    f'the configuration pre-trains with; on devices {_MEASURED_SAMPLES}.',
    lower_bound=1,
    flag_values=values,
  )
  flags.DEFINE_float(
    'budget_seconds',
    None,
    'Wall time, over all resumed runs. Default: no limit.',
    lower_bound=0.1,
    flag_values=values,
  )
  flags.DEFINE_string(
    'output_dir',
    '',
    'Folder for the results. Default: placer_output/train-POLICY-NAME.',
    flag_values=values,
  )


def run(values: flags.FlagValues, command: Sequence[str]) -> int:
  """Runs the command.

  Args:
    values: parsed flags.
    command: the command line.

  Returns:
    The exit code, 0.

  Raises:
    PlacerError: see `placer.core.errors`.
  """
  kind = registry.get(values.policy)
  if not kind.is_learned:
    raise errors.UsageError(
      f'--policy={values.policy} does not learn. Learned are: '
      f'{", ".join(policy_flags.learned_names())}.'
    )
  config = kind.configs[values.config]
  graphs = training_graphs.load(values, kind)
  folder = _folder(values, graphs)
  with _evaluator(values, graphs) as (graphs, evaluator, reference):
    learner = kind.make_learner(graphs.problems, config, values.seed, reference)
    trainer = _train(values, config, learner, evaluator, graphs, folder)
  _write(values, command, config, trainer, graphs, folder)
  print(f'Written to {folder}')
  return 0


def _folder(
  values: flags.FlagValues, graphs: training_graphs.TrainingGraphs
) -> pathlib.Path:
  what = graphs.titles[0] if len(graphs.titles) == 1 else 'graphs'
  chosen = values.output_dir or os.path.join(
    'placer_output', f'train-{values.policy}-{what}'
  )
  folder = pathlib.Path(paths.user_path(chosen))
  try:
    (folder / 'placements').mkdir(parents=True, exist_ok=True)
  except OSError as error:
    raise errors.UsageError(
      f'--output_dir={folder} cannot be made: {error.strerror}.'
    ) from error
  return folder


@contextlib.contextmanager
def _evaluator(
  values: flags.FlagValues, graphs: training_graphs.TrainingGraphs
) -> Iterator[Any]:
  """(graphs with costs, evaluator, reference seconds of each graph).

  Costs are profiled on real devices, as `place` does; see `--evaluate`.
  """
  # They import TensorFlow's companions, which take seconds.
  from placer.cli import measured_evaluator
  from placer.policies.learning import evaluation

  if values.evaluate == 'simulator':
    graphs = graphs.with_profiled_costs(values)
    evaluator = evaluation.Simulated(graphs.problems)
    yield (
      graphs,
      evaluator,
      [
        evaluation.reference_seconds(problem, evaluator, graph)
        for graph, problem in enumerate(graphs.problems)
      ],
    )
    return
  if len(graphs.jobs) > 1:
    raise errors.UsageError(
      '--evaluate=devices learns one graph; --graphs matches '
      f'{len(graphs.jobs)}. Leave it out to learn in simulation.'
    )
  (job,) = graphs.jobs
  with job.measurer(values, '') as measurer:
    job = job.with_costs(measurer)
    measured = measured_evaluator.MeasuredEvaluator(
      job.problem, measurer, values.steps
    )
    graphs = dataclasses.replace(graphs, jobs=[job])
    yield graphs, measured, [measured.reference_seconds]


def _train(values, config, learner, evaluator, graphs, folder):
  """The Trainer, when it has trained."""
  from placer.policies.learning import training

  measured = values.evaluate == 'devices'
  samples = values.budget_samples or (
    _MEASURED_SAMPLES if measured else config.pretrain_samples
  )
  line = training_progress.TrainingProgress(
    graphs.titles, learner.reference_seconds
  )
  trainer = training.Trainer(
    learner,
    evaluator,
    folder=folder,
    checkpoint_updates=1 if measured else _CHECKPOINT_UPDATES,
    measured=measured,
    on_update=line,
  )
  if trainer.updates:
    print(f'Going on after {trainer.samples:,} samples')
  print(
    f'{values.policy} learns {", ".join(graphs.titles)} on {values.devices}: '
    f'{samples:,} samples. Results go to {folder}',
    flush=True,
  )
  try:
    trainer.run(samples=samples, seconds=values.budget_seconds)
  except KeyboardInterrupt:
    trainer.save()
    print('\nInterrupted; what was learned is kept.')
  finally:
    line.close()
  return trainer


def _write(values, command, config, trainer, graphs, folder) -> None:
  found = []
  for title, problem, best, reference in zip(
    graphs.titles,
    graphs.problems,
    trainer.best,
    trainer.learner.reference_seconds,
  ):
    seconds = best.best_seconds if len(best.seconds) else None
    found.append(
      {
        'graph': title,
        'groups': problem.num_groups,
        'best_single_device_seconds': reference,
        'best_seconds': seconds,
        'speedup': None if seconds is None else reference / seconds,
      }
    )
    if seconds is None:
      print(f'{title}: no placement ran')
      continue
    placement = problem.placement(best.candidates[0])
    placement.save(str(folder / 'placements' / f'{title}.json'))
    print(f'{title}: {seconds:.4g} s, {reference / seconds:.2f}x')
  summary = {
    'command': list(command),
    'policy': values.policy,
    'config': dataclasses.asdict(config),
    'devices': values.devices,
    'times_are': 'measured' if values.evaluate == 'devices' else 'simulated',
    'seed': values.seed,
    'samples': trainer.samples,
    'updates': trainer.updates,
    'elapsed_seconds': round(trainer.elapsed_seconds, 1),
    'graphs': found,
  }
  partial = folder / 'train.partial'
  partial.write_text(json.dumps(summary, indent=2) + '\n', encoding='utf-8')
  partial.replace(folder / 'train.json')
