"""Bars of a Chrome trace, in rows where none overlaps another.

An event is a dict of the Trace Event Format: 'pid' a process, 'tid' a row of
it, 'ts' and 'dur' microseconds.
"""

from collections.abc import Sequence
from typing import Any

MICROSECONDS = 1e6


def bar(
  text: str, category: str, start: float, end: float, **arguments: Any
) -> dict[str, Any]:
  """A bar that has no row yet.

  Args:
    text: on the bar.
    category: 'op', 'transfer' …
    start: seconds.
    end: seconds.
    **arguments: shown beside it.

  Returns:
    The event, for `rows`.
  """
  return {
    'name': text,
    'cat': category,
    'ph': 'X',
    'ts': float(start) * MICROSECONDS,
    'dur': float(end - start) * MICROSECONDS,
    # The rows are found by these, since sums of products may differ.
    'start': float(start),
    'end': float(end),
    'args': arguments,
  }


def rows(
  bars: Sequence[dict[str, Any]], process: int, first: int, text: str
) -> list[dict[str, Any]]:
  """Gives bars the first row that is free, in the order of their start.

  Args:
    bars: what `bar` gave.
    process: of the rows.
    first: number of the first row.
    text: name of the first row; the others are 'name 1', 'name 2' …

  Returns:
    The names of the rows, and the bars.
  """
  ends: list[float] = []
  found = []
  for each in sorted(bars, key=lambda each: (each['start'], each['end'])):
    start, end = each.pop('start'), each.pop('end')
    row = next((i for i, free in enumerate(ends) if free <= start), len(ends))
    ends[row : row + 1] = [end]
    found.append({**each, 'pid': process, 'tid': first + row})
  names = [
    name('thread_name', process, first + row, f'{text} {row}' if row else text)
    for row in range(len(ends))
  ]
  return names + found


def name(kind: str, process: int, thread: int, text: str) -> dict[str, Any]:
  """The event that names a process ('process_name') or a row."""
  return {
    'name': kind,
    'ph': 'M',
    'pid': process,
    'tid': thread,
    'args': {'name': text},
  }
