"""The report of `fidelity.py`: errors by model, and a plot."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_Row = Mapping[str, Any]


def read(path: str) -> list[_Row]:
  """The rows of a JSON-lines file; [] if there is none.

  Args:
    path: the file.
  """
  if not os.path.exists(path):
    return []
  with open(path) as file:
    return [json.loads(line) for line in file if line.endswith('\n')]


def merged(rows: Sequence[_Row]) -> list[_Row]:
  """One row a placement, of all its sessions.

  Args:
    rows: one a session.

  Returns:
    The first session of each placement with the median of all in `seconds`; the
    first that failed, if one did.
  """
  sessions: dict[tuple[str, str], list[_Row]] = {}
  for row in rows:
    sessions.setdefault((row['model'], row['placement']), []).append(row)
  found = []
  for own in sessions.values():
    failed = [row for row in own if row['status'] != 'ok']
    if failed:
      found.append(failed[0])
      continue
    # Runs that went on after a kill may have another single device's step.
    ratio = np.median([row['seconds'] / row['single_seconds'] for row in own])
    seconds = float(ratio) * own[0]['single_seconds']
    found.append({**own[0], 'seconds': seconds})
  return found


def summary(rows: Sequence[_Row]) -> dict[str, float]:
  """The figures of one model.

  Args:
    rows: of one model.

  Returns:
    {figure: value}; errors and losses as parts of 1.
  """
  ran = [row for row in rows if row['status'] == 'ok']
  measured, predicted, roofline = (
    np.array([row[key] for row in ran], float)
    for key in ('seconds', 'predicted_seconds', 'roofline_seconds')
  )
  errors = np.abs(predicted / measured - 1)
  peaks = np.array([row['peak_bytes'] for row in ran], float)
  predicted_peaks = np.array([row['predicted_peak_bytes'] for row in ran])
  used = peaks > 0
  memory = np.abs(predicted_peaks[used] / peaks[used] - 1)
  return {
    'placements': len(ran),
    'median': float(np.median(errors)),
    'ninety': float(np.quantile(errors, 0.9)),
    'spearman': spearman(predicted, measured),
    'regret': float(measured[predicted.argmin()] / measured.min() - 1),
    'best': float(measured.min() / ran[0]['single_seconds']),
    'memory_median': float(np.median(memory)),
    'memory_ninety': float(np.quantile(memory, 0.9)),
    'roofline': float(np.median(np.abs(roofline / measured - 1))),
    'roofline_spearman': spearman(roofline, measured),
  }


def spearman(one: np.ndarray, other: np.ndarray) -> float:
  """Spearman's rank correlation of two samples.

  Args:
    one: float `[K]`.
    other: float `[K]`.
  """
  ranks = [_ranks(sample) for sample in (one, other)]
  return float(np.corrcoef(*ranks)[0, 1])


def _ranks(sample: np.ndarray) -> np.ndarray:
  """Ranks from 0; equal values share the mean of theirs."""
  values, inverse, counts = np.unique(
    sample, return_inverse=True, return_counts=True
  )
  del values
  last = np.cumsum(counts)
  return ((last - counts + last - 1) / 2)[inverse]


def markdown(rows: Sequence[_Row], hardware: str) -> str:
  """The report.

  Args:
    rows: of all models.
    hardware: date and hardware.
  """
  lines = [
    '# Predicted and measured steps',
    '',
    f'{hardware}. Made by `python -m benchmarks.fidelity`, which says what is '
    'measured and what is fitted.',
    '',
    '| model | placements | median error | 90 % below | Spearman | predicted '
    'best is slower by | best / one device | peak memory: median error | 90 % '
    'below | roofline: median error | Spearman |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
  ]
  for model in dict.fromkeys(row['model'] for row in rows):
    own = [row for row in rows if row['model'] == model]
    found = summary(own)
    step = ' (training)' if own[0]['training'] else ''
    lines.append(
      f'| {model}{step} | {found["placements"]} | {found["median"]:.1%} '
      f'| {found["ninety"]:.1%} | {found["spearman"]:.3f} '
      f'| {found["regret"]:.1%} | {found["best"]:.2f} '
      f'| {found["memory_median"]:.1%} | {found["memory_ninety"]:.1%} '
      f'| {found["roofline"]:.1%} | {found["roofline_spearman"]:.3f} |'
    )
  failed = [row for row in rows if row['status'] != 'ok']
  if failed:
    lines += ['', f'{len(failed)} placements did not run and are left out.']
  return '\n'.join(lines) + '\n'


def plot(rows: Sequence[_Row]) -> str:
  """Predicted against measured, as parts of one device's step; an SVG.

  Args:
    rows: of all models.
  """
  size, low, high = 360, 0.4, 1.6
  colours = ('#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#57606a')

  def at(ratio: float) -> float:
    return (min(max(ratio, low), high) - low) / (high - low) * size

  parts = [
    f'<line x1="50" y1="{size + 10}" x2="{size + 50}" y2="10" stroke="#888"/>',
    f'<rect x="50" y="10" width="{size}" height="{size}" fill="none" '
    'stroke="#888"/>',
  ]
  for index, model in enumerate(dict.fromkeys(row['model'] for row in rows)):
    colour = colours[index % len(colours)]
    parts.append(
      f'<text x="{size + 62}" y="{30 + 20 * index}" fill="{colour}">'
      f'{model}</text>'
    )
    for row in rows:
      if row['model'] == model and row['status'] == 'ok':
        x = 50 + at(row['seconds'] / row['single_seconds'])
        y = 10 + size - at(row['predicted_seconds'] / row['single_seconds'])
        parts.append(
          f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
        )
  for tick in (0.5, 1.0, 1.5):
    parts.append(f'<text x="{42 + at(tick)}" y="{size + 26}">{tick}</text>')
    parts.append(f'<text x="20" y="{14 + size - at(tick)}">{tick}</text>')
  parts.append(
    f'<text x="60" y="{size + 44}">measured step, as a part of one device'
    '</text><text x="60" y="26">predicted</text>'
  )
  return (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 220} '
    f'{size + 55}" font-family="sans-serif" font-size="12">\n'
    + '\n'.join(parts)
    + '\n</svg>\n'
  )
