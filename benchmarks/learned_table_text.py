"""The runs of `learned_table.py`, read and rendered as Markdown.

A run: a dict with model, devices, policy, seed, step_seconds (or None),
wall_seconds, and of learned policies samples, samples_to_near and curve.
"""

import json
import pathlib
import statistics
from collections.abc import Sequence
from typing import Any

COLUMNS = (
  'single_device',
  'expert',
  'scotch',
  'metis',
  'm_etf',
  'annealing',
  'seq2seq',
  'grouper_placer',
  'lower_bound',
)
_HEAD = """\
# Learned policies beside the planners

Training steps of built-in models in at most 128 groups on simulated K80s,
roofline costs; milliseconds a step of the best placement, simulated op by op,
lower is better. With several seeds: the median (the worst; how many seeds).
`lower_bound` is proven for the coarse problem by
`placer/policies/lower_bound.py`. Made by `python -m benchmarks.learned_table`,
then `--render`; the runs, with curves, are in `learned_runs.jsonl`. Wall
seconds are those of a busy, shared 2-core x86 host.

"""
# What is written by hand; rendering keeps it.
_NOTES = '\n## What it says\n'
# Samples at which curves are shown.
_CURVE = (64, 128, 256, 512, 1024, 2048, 4096)


def read(file: pathlib.Path) -> list[dict[str, Any]]:
  """The runs in a file; a last line that was cut off is left out."""
  if not file.exists():
    return []
  runs = []
  for line in file.read_text().splitlines():
    try:
      runs.append(json.loads(line))
    except ValueError:
      continue
  return runs


def render(runs: Sequence[dict[str, Any]]) -> str:
  """The Markdown text of all runs."""
  names = [run['policy'] for run in runs]
  columns = [name for name in COLUMNS if name in names]
  columns += sorted(set(names) - set(columns))
  if 'lower_bound' in columns:
    columns.remove('lower_bound')
    columns.append('lower_bound')
  learned = [
    name
    for name in columns
    if any(run['policy'] == name and 'samples' in run for run in runs)
  ]
  keys = list(dict.fromkeys((run['model'], run['devices']) for run in runs))
  parts = [_HEAD, _table(['problem', *columns], _steps(runs, keys, columns))]
  if learned:
    parts += [
      '\n## Against annealing\n\nMedian step over that of annealing.\n\n',
      _table(['problem', *learned], _relative(runs, keys, learned)),
      '\n## Samples and seconds\n\nMedian samples until within 2 % of the '
      'final step, of all samples; median wall seconds.\n\n',
      _table(['problem', *learned], _effort(runs, keys, learned)),
      '\n## Curves\n\nThe best step after so many samples over the step of '
      'annealing, median of the seeds. The first samples are those of the warm '
      'start.\n\n',
      _table(
        ['problem', 'policy', *map(str, _CURVE)], _curves(runs, keys, learned)
      ),
    ]
  return ''.join(parts)


def notes(file: pathlib.Path) -> str:
  """What was written by hand below the tables of a rendered file, or ''."""
  old = file.read_text() if file.exists() else ''
  _, marker, written = old.partition(_NOTES)
  return marker + written


def _title(key: tuple[str, str]) -> str:
  return f'{key[0]}, {key[1].removeprefix("simulated:")}'


def _of(runs, key, policy) -> list[dict[str, Any]]:
  return [
    run
    for run in runs
    if (run['model'], run['devices'], run['policy']) == (*key, policy)
  ]


def _seconds(runs, key, policy) -> list[float]:
  found = [run['step_seconds'] for run in _of(runs, key, policy)]
  return [seconds for seconds in found if seconds is not None]


def _steps(runs, keys, columns) -> list[list[str]]:
  rows = []
  for key in keys:
    cells = []
    for policy in columns:
      found = [1e3 * seconds for seconds in _seconds(runs, key, policy)]
      if not found:
        cells.append('does not run' if _of(runs, key, policy) else '')
      elif len(found) == 1:
        cells.append(f'{found[0]:.1f}')
      else:
        cells.append(
          f'{statistics.median(found):.1f} ({max(found):.1f}; {len(found)})'
        )
    rows.append([_title(key), *cells])
  return rows


def _relative(runs, keys, learned) -> list[list[str]]:
  rows = []
  for key in keys:
    base = _seconds(runs, key, 'annealing')
    cells = []
    for policy in learned:
      found = _seconds(runs, key, policy)
      ratio = ''
      if base and found:
        ratio = f'{statistics.median(found) / statistics.median(base):.3f}'
      cells.append(ratio)
    rows.append([_title(key), *cells])
  return rows


def _effort(runs, keys, learned) -> list[list[str]]:
  rows = []
  for key in keys:
    cells = []
    for policy in learned:
      found = [
        run for run in _of(runs, key, policy) if run.get('samples_to_near')
      ]
      if not found:
        cells.append('')
        continue
      near = statistics.median(run['samples_to_near'] for run in found)
      of = statistics.median(run['samples'] for run in found)
      wall = statistics.median(run['wall_seconds'] for run in found)
      cells.append(f'{near:.0f} of {of:.0f}, {wall:.0f} s')
    rows.append([_title(key), *cells])
  return rows


def _curves(runs, keys, learned) -> list[list[str]]:
  rows = []
  for key in keys:
    base = _seconds(runs, key, 'annealing')
    for policy in learned:
      curves = [run['curve'] for run in _of(runs, key, policy)]
      if not base or not curves:
        continue
      cells = []
      for count in _CURVE:
        best = [
          min([seconds for at, seconds in curve if at <= count], default=None)
          for curve in curves
        ]
        known = [seconds for seconds in best if seconds is not None]
        ratio = ''
        if known:
          ratio = f'{statistics.median(known) / statistics.median(base):.3f}'
        cells.append(ratio)
      rows.append([_title(key), policy, *cells])
  return rows


def _table(header: list[str], rows: list[list[str]]) -> str:
  lines = [header, ['---'] * len(header), *rows]
  return ''.join(f'| {" | ".join(line)} |\n' for line in lines)
