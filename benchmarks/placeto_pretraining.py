"""Trains the weights that come with placer, in simulation.

    python -m benchmarks.placeto_pretraining --output_dir=DIR

The graphs are the halves 'train' of the families (`benchmarks/families`), each
on some of the simulated devices below, drawn by the seed, coarsened to the
family's number of groups. It is `placer train` on these problems: the folder
has checkpoints, a curve and TensorBoard's events, and a killed run goes on.
At the end, and each `--save_rounds`, the weights are written as text to
`--weights`; that file is `placer/policies/placeto/pretrained.json`.
"""

import dataclasses
import hashlib
import pickle
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from absl import app
from absl import flags

from benchmarks import families
from placer.core import cache_folder
from placer.core import placement_problem
from placer.devices import target
from placer.policies.learning import evaluation
from placer.policies.learning import training
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import learner as learner_lib
from placer.policies.placeto import weights
from placer.simulation import coarse
from placer.simulation import roofline

FAMILIES = ('cifar10', 'ptb', 'nmt')
# What groups are made for; the other devices take the same groups.
_GROUPED_FOR = 'simulated:k80x2'
DEVICES = (
  'simulated:k80x2',
  'simulated:k80x3',
  'simulated:k80x4',
  'simulated:k80x8',
  'simulated:v100x2',
  'simulated:v100x4',
  'simulated:a100x4',
  'simulated:v100x2+k80x2',
  'simulated:k80x4+a100x1',
  'simulated:cpu_corex2',
  'simulated:cpu_corex4',
)


def on_devices(
  problem: placement_problem.PlacementProblem, spec: str
) -> placement_problem.PlacementProblem:
  """The coarse problem of one that any device can run, on other devices.

  Args:
    problem: G groups that may all be anywhere.
    spec: of simulated devices.

  Returns:
    A problem of an op a group, with costs, on D devices.
  """
  devices = target.resolve(spec)
  costs = roofline.cost_model_of(problem.graph, devices)
  moved = dataclasses.replace(
    problem,
    devices=devices,
    allowed=np.ones((problem.num_groups, len(devices)), bool),
    fixed_reasons={},
    costs=costs,
  )
  small = coarse.coarse_problem(moved, costs)
  return dataclasses.replace(small.problem, costs=small.cost_model)


def problems(
  names: Sequence[str], split: str, count: int, seed: int
) -> list[placement_problem.PlacementProblem]:
  """The coarse problems of a half of each family.

  Args:
    names: of families.
    split: 'train' or 'test'.
    count: devices that each graph is put on.
    seed: of the draw of devices.

  Returns:
    Problems with costs; a graph is on `count` different kinds of devices.
  """
  key = repr((sorted(names), split, count, seed, DEVICES))
  digest = hashlib.sha256(key.encode()).hexdigest()[:16]
  file = cache_folder.find('placeto_pretraining') / f'{digest}.pickle'
  if file.exists():
    return pickle.loads(file.read_bytes())
  rng = np.random.default_rng(seed)
  found = []
  for name in names:
    for _, problem in families.problems(
      name, split, target.resolve(_GROUPED_FOR)
    ):
      for i in rng.choice(len(DEVICES), count, replace=False):
        found.append(on_devices(problem, DEVICES[i]))
  file.write_bytes(pickle.dumps(found))
  return found


def from_scratch(rounds: int, **changes: Any) -> config_lib.PlacetoConfig:
  """The settings of training on many graphs, from random weights.

  Args:
    rounds: updates of the network that the schedules are for.
    **changes: other fields.
  """
  fields = {
    'updates': rounds,
    'pretrained': False,
    'opening': 0,
    'warm_start': (),
    'restart': 0.5,
    'keep_best': False,
    **changes,
  }
  return config_lib.PlacetoConfig(**fields)


def make_trainer(
  config: config_lib.PlacetoConfig,
  graphs: Sequence[placement_problem.PlacementProblem],
  folder: str | None = None,
  on_update: training.OnUpdate | None = None,
) -> training.Trainer:
  """A Trainer of these graphs, restored from the folder if it has one."""
  evaluator = evaluation.Simulated(graphs)
  references = [
    evaluation.reference_seconds(problem, evaluator, i)
    for i, problem in enumerate(graphs)
  ]
  learner = learner_lib.PlacetoLearner(graphs, config, 0, references)
  return training.Trainer(
    learner,
    evaluator,
    folder=folder,
    checkpoint_updates=60,
    on_update=on_update,
  )


def main(unused_argv: Sequence[str]) -> None:
  """Trains and writes the weights."""
  graphs = problems(_FAMILIES.value, 'train', _COUNT.value, _SEED.value)
  config = from_scratch(_ROUNDS.value)
  size = min(config.graphs, len(graphs))

  def on_update(line, unused_seconds_left) -> None:
    """Prints a line and writes the weights, now and then."""
    if line['update'] % (size * _SAVE_ROUNDS.value):
      return
    lines = trainer.curve[-size * _SAVE_ROUNDS.value :]
    rewards = [line['reward'] for line in lines]
    seconds = (time.monotonic() - begin) / (line['update'] - first) * size
    print(
      f'round {line["update"] // size}: {trainer.samples:,} samples, reward '
      f'{np.mean(rewards):.4f}, entropy {line["entropy"]:.3f}, '
      f'{seconds:.2f} s a round',
      flush=True,
    )
    save(trainer.learner.network, config)

  trainer = make_trainer(config, graphs, _OUTPUT_DIR.value, on_update)
  begin, first = time.monotonic(), trainer.updates
  trainer.run(samples=_SAMPLES.value)
  save(trainer.learner.network, config)


def save(network, config: config_lib.PlacetoConfig) -> None:
  """Writes the weights, with the command."""
  command = (
    'python -m benchmarks.placeto_pretraining '
    f'--families={",".join(_FAMILIES.value)} '
    f'--devices_per_graph={_COUNT.value} --seed={_SEED.value} '
    f'--rounds={_ROUNDS.value} --samples={_SAMPLES.value}'
  )
  weights.save(
    network,
    config,
    _WEIGHTS.value,
    num_devices=2,
    command=command,
  )


if __name__ == '__main__':
  _FAMILIES = flags.DEFINE_list('families', list(FAMILIES), 'Families.')
  _COUNT = flags.DEFINE_integer('devices_per_graph', 3, 'Kinds of devices.')
  _SEED = flags.DEFINE_integer('seed', 0, 'Of devices.')
  _ROUNDS = flags.DEFINE_integer(
    'rounds', 1000, 'Updates of the network that the schedules are for.'
  )
  _SAMPLES = flags.DEFINE_integer(
    'samples', 5_000_000, 'Placements to simulate in all.'
  )
  _SAVE_ROUNDS = flags.DEFINE_integer('save_rounds', 25, 'Rounds a line.')
  _OUTPUT_DIR = flags.DEFINE_string('output_dir', None, 'Folder, or none.')
  _WEIGHTS = flags.DEFINE_string('weights', 'pretrained.json', 'Text file.')
  app.run(main)
