"""The result table on the terminal: plain text of at most 100 columns.

A row a placement: each single device, the whole host as one device, original,
expert, the finalists; `>` marks the answer. Columns: median step and quartiles
in ms, or the status of one that did not run; speed-up over the best single
device (the inverse of the paired ratio) with its interval; ops on each device
in the order of `--devices`; the largest peak memory of any device. Simulated
steps do not vary, so they have no quartiles and intervals. Below: what is best
to run here, in plain words, how far that is at most from the best there is in
the model, and the notes.

`result` everywhere is a `placer.core.search_result.SearchResult`, without a
type hint since reports know the nouns of core only.
"""

import textwrap
from collections.abc import Sequence

import numpy as np

from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.core import search_result

WIDTH = 100
# Columns to the right of their text's width are numbers.
_RIGHT = frozenset({5})


def render(result: search_result.SearchResult) -> str:
  """The table, the sentence and the notes.

  Args:
    result: what the search found.

  Returns:
    Lines of at most 100 columns, ending with a line break.
  """
  topology = result.problem.devices
  lines = _wrap(_title(result))
  if topology.stands_for:
    lines += _wrap(f'Devices: {topology.stands_for}')
  if not topology.timing_is_meaningful:
    lines += _wrap(
      f'CORRECTNESS ONLY: the devices of --devices={topology.spec} share '
      'their cores, so these times say nothing about speed.'
    )
  lines += ['', *_grid(_cells(result)), '']
  lines += _wrap(verdict(result))
  lines += _wrap(within_bound(result))
  for note in result.notes:
    lines += _wrap(note, '- ')
  return '\n'.join(lines) + '\n'


def verdict(result: search_result.SearchResult) -> str:
  """What is best to run here, in one or two plain sentences.

  Args:
    result: what the search found.

  Returns:
    The text, without line breaks.
  """
  chosen = result.chosen
  seconds = chosen.measurement.step_time_seconds
  step = f'{_ms(seconds)} ms a step'
  if not result.problem.devices.timing_is_meaningful:
    return (
      f'Best of these: {chosen.label}, which proves only that it runs. For '
      'times, use devices that share no cores, e.g. --devices=local:2.'
    )
  where = 'on these devices'
  if result.problem.devices.is_simulated:
    where = 'in simulation, where nothing was run'
  if not result.reference_label:
    text = f'No single device can run this graph; {chosen.label} can: {step}.'
  elif result.improved:
    text = (
      f'Best {where}: {chosen.label}, {step}, '
      f'{1 / chosen.ratio:.2f}x as fast as the best single device.'
    )
  else:
    text = (
      f'Best {where}: one device, {chosen.label}, {step}. No split '
      'that was tried is surely faster.'
    )
  return text + _whole_host_sentence(result, seconds)


def within_bound(result: search_result.SearchResult) -> str:
  """How far from the best the answer is at most, in the model.

  Args:
    result: what the search found.

  Returns:
    One sentence, or '' where there is no bound, or times mean nothing.
  """
  bound, seconds = result.bound, result.predicted_seconds
  if bound is None or not result.problem.devices.timing_is_meaningful:
    return ''
  if not 0 < bound.seconds < np.inf:
    return ''
  if seconds is None:
    return (
      'The model says that this placement does not run; none takes less than '
      f'{_ms(bound.seconds)} ms there ({bound.method}).'
    )
  gap = bound.gap(seconds)
  if gap < 1e-6:
    return (
      f'In the model it takes {_ms(seconds)} ms, and no placement of these '
      f'groups takes less ({bound.method}).'
    )
  return (
    f'In the model it takes {_ms(seconds)} ms, within {100 * gap:.1f} % of the '
    f'bound: no placement of these groups takes less than '
    f'{_ms(bound.seconds)} ms ({bound.method}).'
  )


def ops_per_device(
  problem: placement_problem.PlacementProblem, candidate: np.ndarray
) -> tuple[int, ...]:
  """The number of ops on each of the D devices.

  Args:
    problem: N ops in G groups.
    candidate: int32 `[G]`.

  Returns:
    D counts, whose sum is N.
  """
  counts = np.bincount(
    np.asarray(candidate)[problem.op_group], minlength=len(problem.devices)
  )
  return tuple(int(count) for count in counts)


def _whole_host_sentence(
  result: search_result.SearchResult, seconds: float
) -> str:
  whole = result.whole_host
  if whole is None or not whole.measurement.ok:
    return ''
  step = whole.measurement.step_time_seconds
  faster = step < seconds
  if whole.ratio is not None and result.chosen.ratio is not None:
    faster = whole.ratio < result.chosen.ratio
  if not faster:
    return f' The whole host as one device is slower: {_ms(step)} ms.'
  text = f' Best on this host: the whole host as one device, {_ms(step)} ms'
  if whole.ratio is not None:
    text += f', {1 / whole.ratio:.2f}x as fast as the best single device'
  text += '.'
  if len(set(result.chosen.candidate.tolist())) > 1:
    text += (
      ' Use the split only where such devices are really separate, on '
      'several machines or sockets.'
    )
  return text


def _title(result: search_result.SearchResult) -> str:
  problem = result.problem
  return (
    f'{len(problem.graph)} ops in {problem.num_groups} groups on '
    f'{len(problem.devices)} devices (--devices={problem.devices.spec}); '
    f'{len(result.trials)} placements tried in '
    f'{result.elapsed_seconds:.0f} s'
  )


def _cells(result: search_result.SearchResult) -> list[tuple[str, ...]]:
  header = (
    '',
    'placement',
    *_time_headers(result),
    'ops per device',
    'peak MB',
  )
  singles = [row for row in result.rows if row.policy == 'single_device']
  others = [row for row in result.rows if row.policy != 'single_device']
  cells = [header, *(_row(result, row) for row in singles)]
  if result.whole_host is not None:
    cells.append(_row(result, result.whole_host))
  return cells + [_row(result, row) for row in others]


def _time_headers(result: search_result.SearchResult) -> tuple[str, str]:
  if result.problem.devices.is_simulated:
    return 'simulated step ms', 'speed-up'
  return 'step ms (quartiles)', f'speed-up ({result.confidence:.0%})'


def _row(
  result: search_result.SearchResult, row: search_result.Row
) -> tuple[str, ...]:
  speedup = ''
  if row.ratio is not None:
    speedup = f'{1 / row.ratio:.2f}x'
    if row.label == result.reference_label:
      speedup += ' (reference)'
    elif not row.remeasured and not result.problem.devices.is_simulated:
      speedup += ' (trial)'
    elif row.interval is not None and row.interval[0] < row.interval[1]:
      low, high = 1 / row.interval[1], 1 / row.interval[0]
      speedup += f' ({low:.2f}-{high:.2f})'
  return (
    '>' if row is result.chosen else '',
    row.label,
    _times(row.measurement),
    speedup,
    _counts(ops_per_device(result.problem, row.candidate))
    if len(row.candidate)
    else '',
    _peak(row.measurement),
  )


def _times(measured: measurement_lib.Measurement) -> str:
  if not measured.ok:
    return measured.status.value
  low, high = np.quantile(measured.step_times_seconds, [0.25, 0.75])
  if low == high:
    return _ms(low)
  return f'{_ms(measured.step_time_seconds)} ({_ms(low)}-{_ms(high)})'


def _ms(seconds: float) -> str:
  """Milliseconds with about three digits."""
  value = seconds * 1e3
  return f'{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}'


def _counts(counts: Sequence[int]) -> str:
  text = '/'.join(str(count) for count in counts)
  if len(text) <= 14:
    return text
  used = sum(1 for count in counts if count)
  return f'on {used} of {len(counts)}'


def _peak(measured: measurement_lib.Measurement) -> str:
  if not measured.peak_memory_bytes:
    return ''
  peak = max(measured.peak_memory_bytes.values()) / 1e6
  return f'{peak:.{0 if peak >= 10 else 1}f}'


def _grid(cells: Sequence[tuple[str, ...]]) -> list[str]:
  """Aligned columns without the empty ones; labels take what room is left."""
  keep = [
    c
    for c in range(len(cells[0]))
    if c == 0 or any(row[c] for row in cells[1:])
  ]
  widths = {c: max(len(row[c]) for row in cells) for c in keep}
  over = sum(widths.values()) + 2 * (len(keep) - 1) - WIDTH
  widths[1] = max(16, widths[1] - max(0, over))
  lines = []
  for row in cells:
    texts = [_shorten(row[c], widths[c]) for c in keep]
    parts = [
      text.rjust(widths[c]) if c in _RIGHT else text.ljust(widths[c])
      for c, text in zip(keep, texts, strict=True)
    ]
    lines.append('  '.join(parts).rstrip())
  rule = '-' * max(len(line) for line in lines)
  return [lines[0], rule, *lines[1:]]


def _shorten(text: str, width: int) -> str:
  """Cut in the middle: device names differ at their ends."""
  if len(text) <= width:
    return text
  head = (width - 1) // 2
  return text[:head] + '…' + text[len(text) - (width - 1 - head) :]


def _wrap(text: str, prefix: str = '') -> list[str]:
  return textwrap.wrap(
    text,
    WIDTH,
    initial_indent=prefix,
    subsequent_indent=' ' * len(prefix),
    break_on_hyphens=False,
    break_long_words=False,
  )
