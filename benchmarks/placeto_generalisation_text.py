"""The runs of `placeto_generalisation.py` as a table and plots.

A run: a dict with family, graph, devices, policy, step_seconds (or None) and
wall_seconds. Steps are shown as ratios to the best of all planners on the same
graph, `random` apart. Graphs on which not all planners of a family ran yet are
left out.
"""

import collections
import datetime
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import plot_svg

PLANNERS = ('single_device', 'expert', 'scotch', 'm_etf', 'heft', 'annealing')
_PLOTTED = ('zero_shot', 'optimised', 'annealing', 'm_etf', 'scotch', 'expert')
_HEAD = """\
# Placeto on unseen graphs

The halves `test` of the three families; weights trained on the halves `train`
only. Steps simulated op by op, as ratios to the best of all planners on the
same graph: 1 is as fast as the best of them, lower is faster. Planners are
{planners}.
`to optimised` is the mean ratio to the same weights trained on the graph
itself. Made by `python -m benchmarks.placeto_generalisation`, rendered {date},
{cores} cores of a shared machine: wall times are not of a quiet one.
"""


def ratios(
  runs: Sequence[Mapping[str, Any]],
) -> dict[tuple[str, str], dict[str, dict[str, float]]]:
  """{(family, devices): {policy: {graph: ratio to the best planner}}}."""
  steps = collections.defaultdict(dict)
  planners = collections.defaultdict(set)
  for run in runs:
    key = run['family'], run['devices']
    steps[*key, run['graph']][run['policy']] = run['step_seconds']
    if run['policy'] in PLANNERS:
      planners[key].add(run['policy'])
  found = {}
  for (*key, graph), row in steps.items():
    wanted = planners[tuple(key)]
    planned = [row[name] for name in wanted if row.get(name) is not None]
    if not planned or not wanted <= row.keys():
      continue
    table = found.setdefault(tuple(key), {})
    for policy, step in row.items():
      if step is not None:
        table.setdefault(policy, {})[graph] = step / min(planned)
  return found


def render(runs: Sequence[Mapping[str, Any]]) -> str:
  """The Markdown text of all runs."""
  walls = collections.defaultdict(list)
  for run in runs:
    walls[run['family'], run['devices'], run['policy']].append(
      run['wall_seconds']
    )
  lines = [
    _HEAD.format(
      planners=', '.join(PLANNERS),
      date=datetime.date.today(),
      cores=len(os.sched_getaffinity(0)),
    )
  ]
  for (family, devices), table in ratios(runs).items():
    lines += [
      f'## {family}, {devices}',
      '',
      '| policy | graphs | mean | median | worst | to optimised | wall s |',
      '|---|---|---|---|---|---|---|',
    ]
    for policy, by_graph in table.items():
      values = np.array(list(by_graph.values()))
      other = table.get('optimised', {})
      both = [by_graph[g] / other[g] for g in by_graph if g in other]
      to_optimised = f'{np.mean(both):.3f}' if both else ''
      wall = np.median(walls[family, devices, policy])
      lines.append(
        f'| {policy} | {len(values)} | {values.mean():.3f} '
        f'| {np.median(values):.3f} | {values.max():.3f} | {to_optimised} '
        f'| {wall:.1f} |'
      )
    lines.append('')
  return '\n'.join(lines)


def write(runs: Sequence[Mapping[str, Any]], folder: pathlib.Path) -> None:
  """Writes the table and a plot of the distributions for each family."""
  (folder / 'placeto_generalisation.md').write_text(render(runs))
  for (family, devices), table in ratios(runs).items():
    series = {
      policy: plot_svg.cumulative(list(table[policy].values()))
      for policy in _PLOTTED
      if policy in table
    }
    name = f'placeto_{family}_{devices.partition(":")[2]}.svg'
    (folder / name).write_text(
      plot_svg.lines(
        series,
        x_title=f'{family}, {devices}: step over that of the best planner',
        y_title='share of graphs',
        marks=False,
      )
    )
