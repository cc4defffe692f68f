"""How far from the best is the portfolio at most? Its steps beside a bound.

    python -m benchmarks.bounds_benchmark --models=nmt_2

For training steps of built-in models, coarsened to at most 64 groups, on 2 and
4 simulated devices, in ms of a step:

  single      the fastest single device;
  annealing   the best of annealing as `place` runs it;
  portfolio   the answer of `place` on simulated devices: all planners, then the
              portfolio's own searches, in `--portfolio_seconds`;
  best known  the better of the portfolio and of annealing ten times as long: by
              how much the portfolio is known to be behind;
  windows     what no placement of these groups can be below in the model
  bound       (`placer/policies/lower_bound.py`), by windows, and by all it has;
  within      how far the portfolio is above the bound. The best placement may
              be anywhere between the two.

Nothing is run on devices. `--bound_seconds` are those of one core for branch
and bound, of the clock for the rest.
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
from placer.measurers import simulation_measurer
from placer.policies import lower_bound
from placer.policies import registry
from placer.policies.heuristics import annealing
from placer.search import budget
from placer.search import loop
from placer.search import paired_ratio
from placer.simulation import coarse
from placer.simulation import simulator

MODELS = ('inception_v3', 'nmt_2', 'rnnlm', 'nasnet_mobile', 'transformer')
DEVICES = (
  'simulated:k80x2',
  'simulated:k80x4',
  'simulated:cpu_corex2',
  'simulated:cpu_corex4',
)
# Ten times the defaults.
_LONG = annealing.AnnealingConfig(
  visits=6e8, evaluations_per_choice=4_000, full_visits=0
)
_HEADER = (
  '| model | devices | groups | single | annealing | portfolio | best known '
  '| windows | bound | by | within |\n'
  '|---|---|---|---|---|---|---|---|---|---|---|'
)


@dataclasses.dataclass(frozen=True)
class Row:
  """One problem, steps in seconds; see the module docstring.

  Attributes:
    single: the fastest single device, NaN if none runs.
    annealing: of annealing.
    portfolio: of the portfolio.
    best: the best known.
    windows: the Bound by windows.
    bound: the Bound by all there is.
  """

  single: float
  annealing: float
  portfolio: float
  best: float
  windows: bound_lib.Bound
  bound: bound_lib.Bound

  def text(self, model: str, devices: str, groups: int) -> str:
    """A line of a table in Markdown.

    Args:
      model: its name.
      devices: `--devices`.
      groups: how many.
    """
    seconds = self.single, self.annealing, self.portfolio, self.best
    cells = [f'{1e3 * each:.2f}' for each in seconds]
    return (
      f'| {model} | {devices} | {groups} | {" | ".join(cells)} '
      f'| {1e3 * self.windows.seconds:.2f} | {1e3 * self.bound.seconds:.2f} '
      f'| {self.bound.method} '
      f'| **{100 * self.bound.gap(self.portfolio):.1f} %** |'
    )


def row(
  problem: placement_problem.PlacementProblem,
  bound_seconds: float,
  portfolio_seconds: float,
  *,
  seed: int = 0,
) -> Row:
  """Plans one problem and bounds it.

  Args:
    problem: a coarse problem with costs.
    bound_seconds: for the bound.
    portfolio_seconds: for the portfolio.
    seed: of the planners.

  Returns:
    The Row.
  """
  single = planner_benchmark.row('single_device', problem, problem)
  annealed = planner_benchmark.row('annealing', problem, problem, seed=seed)
  chosen = portfolio_choice(problem, portfolio_seconds, seed=seed)
  long = annealing.Annealing(problem, seed=seed, config=_LONG)
  found = np.stack([chosen, *(s.candidate for s in long.suggest(1))])
  steps = simulator.simulate(problem, problem.costs, found).step_time_seconds
  return Row(
    single.step_seconds,
    annealed.step_seconds,
    float(steps[0]),
    float(np.nanmin(steps)),
    lower_bound.lower_bound(problem, known=None),
    lower_bound.lower_bound(
      problem, bound_seconds, known=found[np.nanargmin(steps)]
    ),
  )


def portfolio_choice(
  problem: placement_problem.PlacementProblem, seconds: float, *, seed: int = 0
) -> np.ndarray:
  """What `place` answers on simulated devices.

  Args:
    problem: G groups, with costs.
    seconds: of the search.
    seed: of the policies.

  Returns:
    int32 `[G]`.
  """
  with simulation_measurer.SimulationMeasurer() as measurer:
    result = loop.search(
      problem,
      measurer,
      [registry.make('portfolio', problem, seed=seed)],
      baselines=registry.baselines(problem, seed=seed),
      config=loop.SearchConfig(
        steps=1,
        final_steps=paired_ratio.MIN_PAIRS,
        give_up_ratio=None,
        seed=seed,
      ),
      budget=budget.Budget(seconds),
    )
  return result.chosen.candidate


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
    f'each bound, {_PORTFOLIO_SECONDS.value:g} s for each portfolio\n\n'
    f'{_HEADER}'
  )
  gaps = []
  for model in _MODELS.value:
    file = builtin_models.path_of(model, training=True, batch_size=None)
    imported = base.load(file)
    for spec in _DEVICES.value:
      problem = coarse_problem(imported, spec, _GROUPS.value)
      found = row(
        problem,
        _BOUND_SECONDS.value,
        _PORTFOLIO_SECONDS.value,
        seed=_SEED.value,
      )
      gaps.append(found.bound.gap(found.portfolio))
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
  _PORTFOLIO_SECONDS = flags.DEFINE_float(
    'portfolio_seconds', 20, 'For each portfolio.'
  )
  _SEED = flags.DEFINE_integer('seed', 0, 'Of the planners.')
  app.run(main)
