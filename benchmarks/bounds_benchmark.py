"""How far from the best is annealing at most? Its steps beside proven bounds.

    python -m benchmarks.bounds_benchmark --models=nmt_2

For training steps of built-in models, coarsened to at most 64 groups, on 2 and
4 simulated devices: the fastest single device, the best of annealing, and what
no placement of these groups can be below in the model
(`placer/policies/lower_bound.py`), by windows alone and by all it has. "Within"
is how far annealing is above the bound; the best placement may be anywhere
between the two. Times of a step in ms. Nothing is run on devices.

`--bound_seconds` are those of one core for branch and bound, of the clock for
the rest.
"""

import dataclasses
import datetime
import os
from collections.abc import Sequence

import numpy as np
from absl import app
from absl import flags

from benchmarks import planner_benchmark
from placer.cli import builtin_models
from placer.core import bound as bound_lib
from placer.core import placement_problem
from placer.importers import base
from placer.policies import lower_bound
from placer.simulation import coarse

MODELS = ('inception_v3', 'nmt_2', 'rnnlm', 'nasnet_mobile', 'transformer')
DEVICES = (
  'simulated:k80x2',
  'simulated:k80x4',
  'simulated:cpu_corex2',
  'simulated:cpu_corex4',
)
_HEADER = (
  '| model | devices | groups | single ms | annealing ms | windows ms | within '
  '| bound ms | by | within |\n'
  '|---|---|---|---|---|---|---|---|---|---|'
)


@dataclasses.dataclass(frozen=True)
class Row:
  """One problem.

  Attributes:
    single_seconds: the fastest single device, NaN if none runs.
    best_seconds: annealing.
    windows: the Bound by windows.
    bound: the Bound by all there is.
  """

  single_seconds: float
  best_seconds: float
  windows: bound_lib.Bound
  bound: bound_lib.Bound

  def text(self, model: str, devices: str, groups: int) -> str:
    """A line of a table in Markdown.

    Args:
      model: its name.
      devices: `--devices`.
      groups: how many.
    """
    return (
      f'| {model} | {devices} | {groups} | {1e3 * self.single_seconds:.2f} '
      f'| {1e3 * self.best_seconds:.2f} | {1e3 * self.windows.seconds:.2f} '
      f'| {100 * self.windows.gap(self.best_seconds):.1f} % '
      f'| {1e3 * self.bound.seconds:.2f} | {self.bound.method} '
      f'| **{100 * self.bound.gap(self.best_seconds):.1f} %** |'
    )


def row(
  problem: placement_problem.PlacementProblem,
  bound_seconds: float,
  *,
  seed: int = 0,
) -> Row:
  """Plans one problem and bounds it.

  Args:
    problem: a coarse problem with costs.
    bound_seconds: for the bound.
    seed: of annealing.

  Returns:
    The Row.
  """
  single = planner_benchmark.row('single_device', problem, problem)
  best = planner_benchmark.row('annealing', problem, problem, seed=seed)
  return Row(
    single.step_seconds,
    best.step_seconds,
    lower_bound.lower_bound(problem, known=None),
    lower_bound.lower_bound(problem, bound_seconds, known=best.candidate),
  )


def coarse_problem(
  imported: base.ImportedGraph, spec: str, groups: int
) -> placement_problem.PlacementProblem:
  """The coarse problem of a graph, with costs.

  Args:
    imported: the graph.
    spec: of simulated devices.
    groups: at most so many.

  Returns:
    The PlacementProblem, an op a group where groups have an order.
  """
  full = planner_benchmark.build_problem(imported, spec, groups)
  small = coarse.coarse_problem(full, full.costs)
  return dataclasses.replace(small.problem, costs=small.cost_model)


def main(unused_argv: Sequence[str]) -> None:
  """Prints the table, a line as soon as it is known."""
  cores = len(os.sched_getaffinity(0))
  print(
    f'{datetime.date.today()}, {cores} cores; {_BOUND_SECONDS.value:g} s for '
    f'each bound\n\n{_HEADER}'
  )
  gaps = []
  for model in _MODELS.value:
    file = builtin_models.path_of(model, training=True, batch_size=None)
    imported = base.load(file)
    for spec in _DEVICES.value:
      problem = coarse_problem(imported, spec, _GROUPS.value)
      found = row(problem, _BOUND_SECONDS.value, seed=_SEED.value)
      gaps.append(found.bound.gap(found.best_seconds))
      devices = problem.devices.spec.removeprefix('simulated:')
      print(found.text(model, devices, problem.num_groups), flush=True)
  print(
    f'\nWithin 5 % of the bound: {sum(gap <= 0.05 for gap in gaps)} of '
    f'{len(gaps)}; median {100 * np.median(gaps):.1f} %.'
  )


if __name__ == '__main__':
  _MODELS = flags.DEFINE_list('models', list(MODELS), 'Built-in models.')
  _DEVICES = flags.DEFINE_list('devices', list(DEVICES), 'Simulated devices.')
  _GROUPS = flags.DEFINE_integer('groups', 64, 'At most.', lower_bound=1)
  _BOUND_SECONDS = flags.DEFINE_float('bound_seconds', 60, 'For each bound.')
  _SEED = flags.DEFINE_integer('seed', 0, 'Of annealing.')
  app.run(main)
