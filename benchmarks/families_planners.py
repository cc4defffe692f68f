"""How good are the planners on unseen graphs? The baseline of learned policies.

    python -m benchmarks.families_planners --output=families_planners.md

For the test half of each family (`benchmarks/families`) on simulated devices:
the best suggestion of every planner, simulated op by op, as a ratio to the best
single device, graph by graph; then its mean over the graphs and the quartiles
of its distribution, and the seconds that planning took. `best` is the best of
all planners for each graph. Below 1 is faster than one device. Nothing is run
on devices.

The file is written anew after each family, so that a stopped run leaves what it
had come to.
"""

import dataclasses
import datetime
import os
import pathlib
import time
from collections.abc import Mapping, Sequence

import numpy as np
from absl import app
from absl import flags

from benchmarks import families
from benchmarks.families import base
from placer.core import placement_problem
from placer.devices import target
from placer.policies import registry
from placer.simulation import simulator

POLICIES = ('single_device', 'expert', 'scotch', 'm_etf', 'heft', 'annealing')
BEST = 'best'
_MOST_SUGGESTIONS = 16


@dataclasses.dataclass(frozen=True)
class Result:
  """What a planner came to on one graph.

  Attributes:
    step_seconds: Of its best suggestion, op by op; NaN if none runs.
    plan_seconds: What planning took.
  """

  step_seconds: float
  plan_seconds: float


def plan(
  policy: str, problem: placement_problem.PlacementProblem, *, seed: int = 0
) -> Result:
  """Plans one graph with one policy.

  Args:
    policy: Its name.
    problem: With costs.
    seed: Of the policy.
  """
  begin = time.perf_counter()
  found = registry.make(policy, problem, seed=seed).suggest(_MOST_SUGGESTIONS)
  seconds = time.perf_counter() - begin
  if not found:
    return Result(np.nan, seconds)
  candidates = np.stack([suggestion.candidate for suggestion in found])
  batch = simulator.simulate(problem, problem.costs, candidates)
  best = batch.best()
  step = np.nan if best is None else float(batch.step_time_seconds[best])
  return Result(step, seconds)


def table(title: str, rows: Mapping[str, Mapping[str, Result]]) -> str:
  """The text of one family on one set of devices.

  Args:
    title: Its heading.
    rows: {graph: {policy: Result}}; `single_device` is what the others are
      compared with, and has to run on every graph.

  Returns:
    Two tables in Markdown: over all graphs, and graph by graph.
  """
  policies = list(next(iter(rows.values())))
  steps = np.array(
    [[row[p].step_seconds for p in policies] for row in rows.values()]
  )
  single = steps[:, policies.index('single_device')]
  # `fmin`: a planner without a placement that runs is no one's best.
  steps = np.column_stack([steps, np.fmin.reduce(steps, axis=1)])
  ratios = steps / single[:, np.newaxis]
  planning = [
    f'{np.mean([row[p].plan_seconds for row in rows.values()]):.1f}'
    for p in policies
  ]
  lines = [
    f'## {title}',
    '',
    '| planner | mean | least | 1st quartile | median | 3rd quartile | most '
    '| without placement | planned in s |',
    '|---|---|---|---|---|---|---|---|---|',
  ]
  for name, column, seconds in zip(
    [*policies, BEST], ratios.T, [*planning, ''], strict=True
  ):
    lines.append(_summary(name, column, seconds))
  lines += ['', f'| graph | one device, s | {" | ".join(policies[1:])} |']
  lines.append('|---' * (len(policies) + 1) + '|')
  for graph, seconds, row in zip(rows, single, ratios, strict=True):
    cells = ' | '.join(f'{ratio:.3f}' for ratio in row[1:-1])
    lines.append(f'| {graph} | {seconds:.4f} | {cells} |')
  return '\n'.join([*lines, ''])


def _summary(name: str, ratios: np.ndarray, seconds: str) -> str:
  """A line of the table over all graphs; `ratios` float `[graphs]`, or NaN."""
  running = ratios[np.isfinite(ratios)]
  if not len(running):
    return f'| {name} | | | | | | | {len(ratios)} | {seconds} |'
  cells = [running.mean(), *np.quantile(running, (0, 0.25, 0.5, 0.75, 1))]
  text = ' | '.join(f'{cell:.3f}' for cell in cells)
  return f'| {name} | {text} | {len(ratios) - len(running)} | {seconds} |'


def _header(policies: Sequence[str], seed: int) -> str:
  cores = len(os.sched_getaffinity(0))
  return '\n'.join(
    [
      '# Planners on the test halves of the families',
      '',
      f'{datetime.date.today()}, {cores} cores, seed {seed}, policies '
      f'{", ".join(policies)}; `python -m benchmarks.families_planners`.',
      'Step times are simulated op by op, as ratios to the best single device '
      '(below 1: faster).',
      'Planning times are of a machine that others used too.',
      '',
      '',
    ]
  )


def main(unused_argv: Sequence[str]) -> None:
  """Plans the test halves and writes the tables."""
  parts = []
  for family in _FAMILIES.value:
    for spec in _DEVICES.value:
      rows = {}
      for name, problem in families.problems(
        family, 'test', target.resolve(spec)
      ):
        rows[name] = {
          policy: plan(policy, problem, seed=_SEED.value)
          for policy in _POLICIES.value
        }
        print(name, spec, rows[name], flush=True)
      groups = base.get(family).max_groups
      title = f'{family}, {spec}, at most {groups} groups'
      parts.append(table(title, rows))
      pathlib.Path(_OUTPUT.value).write_text(
        _header(_POLICIES.value, _SEED.value) + '\n'.join(parts),
        encoding='utf-8',
      )


if __name__ == '__main__':
  _FAMILIES = flags.DEFINE_list('families', list(base.names()), 'Families.')
  _DEVICES = flags.DEFINE_list(
    'devices', ['simulated:k80x2', 'simulated:k80x4'], 'Simulated devices.'
  )
  _POLICIES = flags.DEFINE_list(
    'policies', list(POLICIES), 'Policies; single_device comes first.'
  )
  _SEED = flags.DEFINE_integer('seed', 0, 'Of the policies.')
  _OUTPUT = flags.DEFINE_string('output', 'families_planners.md', 'File.')
  app.run(main)
