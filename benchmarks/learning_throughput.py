"""How many placements a second does a learned policy learn from?

    python -m benchmarks.learning_throughput --policies=seq2seq,grouper_placer

For a training step of `--model` in 128 groups on `--devices`: samples a second,
drawn, simulated op by op and learned from (all epochs), in the median update
after the first ones, which trace and compile; and where the time goes. With
`--config=paper` at the papers' sizes, in batches of `--samples`, since their
own of 4 to 20 are for devices.
"""

import dataclasses
import datetime
import os
import statistics
import time
from collections.abc import Sequence

import tensorflow as tf
from absl import app
from absl import flags

from benchmarks import learned_problems
from placer.core import placement_problem
from placer.policies import registry
from placer.policies.learning import evaluation

_PARTS = ('draw', 'simulate', 'learn')


def seconds_of_updates(
  problem: placement_problem.PlacementProblem,
  policy: str,
  config: str,
  samples: int,
  updates: int,
) -> list[tuple[float, float, float]]:
  """Trains, and times it.

  Args:
    problem: with costs.
    policy: its name.
    config: 'default' or 'paper'.
    samples: of an update.
    updates: to be timed, after two that are not.

  Returns:
    Seconds of drawing, simulating and learning, of each update.
  """
  kind = registry.get(policy)
  settings = kind.configs[config]
  learning = dataclasses.replace(
    settings.learning, samples=samples, warm_start=()
  )
  evaluator = evaluation.Simulated([problem])
  learner = kind.make_learner(
    [problem],
    dataclasses.replace(settings, learning=learning),
    0,
    [evaluation.reference_seconds(problem, evaluator)],
  )
  found = []
  for update in range(updates + 2):
    times = [time.perf_counter()]
    proposal = learner.propose(update)
    times.append(time.perf_counter())
    outcomes = evaluator(0, proposal.candidates)
    times.append(time.perf_counter())
    learner.learn(proposal, outcomes)
    times.append(time.perf_counter())
    if update > 1:
      found.append(tuple(b - a for a, b in zip(times, times[1:])))
  return found


def main(unused_argv: Sequence[str]) -> None:
  """Prints a row for each policy and configuration."""
  problem = learned_problems.load(_MODEL.value, _DEVICES.value)
  cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
  print(
    f'{datetime.date.today()}, {cores} cores, load {load:.1f}; {_MODEL.value}: '
    f'{len(problem.graph):,} ops in {problem.num_groups} groups, '
    f'{len(problem.devices)} devices; TensorFlow {tf.__version__}\n'
  )
  print('| policy | config | batch | samples a second | ms a sample: ', end='')
  print(' | '.join(_PARTS) + ' |\n|---|---|---|---|---|---|---|')
  for policy in _POLICIES.value:
    for config in _CONFIGS.value:
      samples = _SAMPLES.value
      found = seconds_of_updates(
        problem, policy, config, samples, _UPDATES.value
      )
      whole = statistics.median(sum(parts) for parts in found)
      parts = [
        f'{1e3 * statistics.median(column) / samples:.2f}'
        for column in zip(*found)
      ]
      print(
        f'| {policy} | {config} | {samples} | {samples / whole:.0f} '
        f'| {" | ".join(parts)} |',
        flush=True,
      )


if __name__ == '__main__':
  _MODEL = flags.DEFINE_string('model', 'inception_v3', 'Built-in model.')
  _DEVICES = flags.DEFINE_string('devices', 'simulated:k80x4', 'Devices.')
  _POLICIES = flags.DEFINE_list(
    'policies', ['seq2seq', 'grouper_placer'], 'A row each.'
  )
  _CONFIGS = flags.DEFINE_list('configs', ['default', 'paper'], 'A row each.')
  _SAMPLES = flags.DEFINE_integer('samples', 64, 'Of an update.')
  _UPDATES = flags.DEFINE_integer('updates', 6, 'Timed ones.')
  app.run(main)
