"""How good are the planners? Predicted steps beside a proven bound.

    python -m benchmarks.planner_benchmark --models=inception_v3 --groups=64

For training steps of built-in models on simulated devices, coarsened to
`--groups`: the best suggestion of every policy, simulated on the coarse problem
(what the bound is of) and op by op, the seconds that planning took, and how far
the step is at most above the best there is: "within x % of the bound". The
bound is that of `placer/policies/lower_bound.py`, found in `--bound_seconds`;
`by` says what proved it. `bounds_benchmark.py` has more on bounds.
Times in seconds of a step; nothing is run on devices.
"""

import dataclasses
import datetime
import os
import time
from collections.abc import Sequence

import numpy as np
from absl import app
from absl import flags

from placer.cli import builtin_models
from placer.core import errors
from placer.core import placement_problem
from placer.importers import base
from placer.policies import lower_bound
from placer.policies import registry
from placer.problems import build
from placer.simulation import coarse
from placer.simulation import roofline
from placer.simulation import simulated_devices
from placer.simulation import simulator

MODELS = ('inception_v3', 'nmt_2', 'nasnet_mobile', 'rnnlm', 'transformer')
POLICIES = (
  'single_device',
  'expert',
  'round_robin',
  'scotch',
  'metis',
  'm_topo',
  'm_etf',
  'm_sct',
  'heft',
  'annealing',
  'exact',
)
_MOST_SUGGESTIONS = 16
_HOST = '+cpu_core'


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
  """What a policy came to.

  Attributes:
    policy: its name.
    candidate: int32 `[G]`, its best, or None if it has none that runs.
    step_seconds: simulated on the coarse problem, NaN if it has none.
    full_step_seconds: of the same candidate, op by op.
    plan_seconds: what planning took.
  """

  policy: str
  candidate: np.ndarray | None
  step_seconds: float
  full_step_seconds: float
  plan_seconds: float


def row(
  policy: str,
  problem: placement_problem.PlacementProblem,
  full: placement_problem.PlacementProblem,
  *,
  seed: int = 0,
) -> Row:
  """Plans with one policy.

  Args:
    policy: its name.
    problem: a coarse problem with costs.
    full: the problem that it is of, with costs.
    seed: of the policy.

  Returns:
    The Row.
  """
  begin = time.perf_counter()
  found = registry.make(policy, problem, seed=seed).suggest(_MOST_SUGGESTIONS)
  seconds = time.perf_counter() - begin
  if not found:
    return Row(policy, None, np.nan, np.nan, seconds)
  candidates = np.stack([suggestion.candidate for suggestion in found])
  batch = simulator.simulate(problem, problem.costs, candidates)
  best = batch.best() if batch.feasible.any() else None
  if best is None:
    return Row(policy, None, np.nan, np.nan, seconds)
  whole = simulator.simulate(full, full.costs, candidates[best][np.newaxis])
  return Row(
    policy,
    candidates[best],
    float(batch.step_time_seconds[best]),
    float(whole.step_time_seconds[0]),
    seconds,
  )


def table(
  title: str, rows: Sequence[Row], bound: lower_bound.Bound, seconds: float
) -> str:
  """The text of one problem.

  Args:
    title: of the problem.
    rows: of the policies; the first is what the others are compared with.
    bound: of the coarse problem.
    seconds: what the bound took.

  Returns:
    Lines of a table in Markdown.
  """
  lines = [
    f'### {title}: bound {bound.seconds:.5f} s by {bound.method} '
    f'({seconds:.0f} s)',
    '',
    '| policy | step s | of single | within | op by op s | planned in s |',
    '|---|---|---|---|---|---|',
  ]
  for found in rows:
    if found.candidate is None:
      lines.append(
        f'| {found.policy} | none | | | | {found.plan_seconds:.1f} |'
      )
      continue
    lines.append(
      f'| {found.policy} | {found.step_seconds:.5f} '
      f'| {found.step_seconds / rows[0].step_seconds:.3f} '
      f'| {100 * bound.gap(found.step_seconds):.1f} % '
      f'| {found.full_step_seconds:.5f} | {found.plan_seconds:.1f} |'
    )
  return '\n'.join([*lines, ''])


def build_problem(
  imported: base.ImportedGraph, spec: str, groups: int
) -> placement_problem.PlacementProblem:
  """The problem of a graph, with costs.

  Args:
    imported: the graph.
    spec: of simulated devices, 'simulated:k80x2'; a CPU core joins them where
      ops of the graph run on no GPU.
    groups: at most so many.

  Returns:
    The PlacementProblem.
  """
  devices = simulated_devices.parse(spec).topology()
  try:
    problem = build.build(imported, devices, max_groups=groups)
  except errors.NoFeasiblePlacementError:
    if spec.endswith(_HOST):
      raise
    return build_problem(imported, spec + _HOST, groups)
  return dataclasses.replace(
    problem, costs=roofline.cost_model_of(problem.graph, devices)
  )


def run(imported: base.ImportedGraph, spec: str, groups: int, name: str) -> str:
  """Plans one graph with every policy.

  Args:
    imported: the graph.
    spec: of simulated devices, 'simulated:k80x2'.
    groups: at most so many.
    name: of the graph.

  Returns:
    The table.
  """
  full = build_problem(imported, spec, groups)
  small = coarse.coarse_problem(full, full.costs)
  problem = dataclasses.replace(small.problem, costs=small.cost_model)
  # The first call of the compiled simulator is nobody's time.
  row('single_device', problem, full)
  rows = [
    row(name, problem, full, seed=_SEED.value) for name in _POLICIES.value
  ]
  running = [found for found in rows if found.candidate is not None]
  known = min(running, key=lambda found: found.step_seconds, default=None)
  begin = time.perf_counter()
  bound = lower_bound.lower_bound(
    problem,
    _BOUND_SECONDS.value,
    known=None if known is None else known.candidate,
  )
  return table(
    f'{name}, {full.devices.spec}, {problem.num_groups} groups as '
    f'{len(problem.graph)} ops',
    rows,
    bound,
    time.perf_counter() - begin,
  )


def main(unused_argv: Sequence[str]) -> None:
  """Prints a table for each problem."""
  cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
  print(f'{datetime.date.today()}, {cores} cores, load {load:.1f}\n')
  for model in _MODELS.value:
    file = builtin_models.path_of(model, training=True, batch_size=None)
    imported = base.load(file)
    for spec in _DEVICES.value:
      for groups in _GROUPS.value:
        print(run(imported, spec, int(groups), model), flush=True)


if __name__ == '__main__':
  _MODELS = flags.DEFINE_list('models', list(MODELS), 'Built-in models.')
  _DEVICES = flags.DEFINE_list(
    'devices', ['simulated:k80x2', 'simulated:k80x4'], 'Simulated devices.'
  )
  _GROUPS = flags.DEFINE_list('groups', ['64', '128'], 'Groups at most.')
  _POLICIES = flags.DEFINE_list(
    'policies', list(POLICIES), 'Policies, a row each.'
  )
  _BOUND_SECONDS = flags.DEFINE_float('bound_seconds', 60, 'For the bound.')
  _SEED = flags.DEFINE_integer('seed', 0, 'Of the policies.')
  app.run(main)
