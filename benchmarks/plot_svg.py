"""Plots of lines as SVG text, by hand: results need no plotting library.

text = lines({'ours': [(64, 0.01), (128, 0.02)]}, x_title='groups', …)
"""

import math
from collections.abc import Mapping, Sequence
from xml.sax import saxutils

_COLOURS = ('#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#57606a')
_LEFT, _TOP, _WIDTH, _HEIGHT = 70, 20, 400, 260


def lines(
  series: Mapping[str, Sequence[tuple[float, float]]],
  *,
  x_title: str,
  y_title: str,
  logarithmic: bool = False,
  marks: bool = True,
) -> str:
  """A plot with a line a series and a legend.

  Args:
    series: {name: (x, y) points in the order of the line}; at least one point
      in all; positive where `logarithmic`.
    x_title: below.
    y_title: above.
    logarithmic: both axes.
    marks: a circle at each point.

  Returns:
    An SVG document.
  """
  scale = math.log10 if logarithmic else float
  points = [point for line in series.values() for point in line]
  xs, ys = ([scale(point[axis]) for point in points] for axis in (0, 1))
  across = _axis(min(xs), max(xs), _LEFT, _WIDTH)
  down = _axis(min(ys), max(ys), _TOP + _HEIGHT, -_HEIGHT)
  parts = []
  for i, (name, line) in enumerate(series.items()):
    colour = _COLOURS[i % len(_COLOURS)]
    at = [(across(scale(x)), down(scale(y))) for x, y in line]
    path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in at)
    parts.append(
      f'<polyline fill="none" stroke="{colour}" stroke-width="2" '
      f'points="{path}"/>'
    )
    if marks:
      parts += [
        f'<circle r="3" cx="{x:.1f}" cy="{y:.1f}" fill="{colour}"/>'
        for x, y in at
      ]
    parts.append(
      f'<text x="{_LEFT + _WIDTH + 12}" y="{_TOP + 14 + 18 * i}" '
      f'fill="{colour}">{saxutils.escape(name)}</text>'
    )
  parts += _ticks(min(xs), max(xs), min(ys), max(ys), across, down, logarithmic)
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 340" '
    'font-family="sans-serif" font-size="11">'
    '<rect width="620" height="340" fill="white"/>'
    + ''.join(parts)
    + f'<text x="{_LEFT + _WIDTH / 2}" y="325" text-anchor="middle">'
    f'{saxutils.escape(x_title)}</text>'
    f'<text x="{_LEFT}" y="12">{saxutils.escape(y_title)}</text></svg>\n'
  )


def cumulative(values: Sequence[float]) -> list[tuple[float, float]]:
  """The points of an empirical distribution, share of values up to each."""
  ordered = sorted(values)
  points = []
  for i, value in enumerate(ordered):
    points += [(value, i / len(ordered)), (value, (i + 1) / len(ordered))]
  return points


def _axis(low: float, high: float, start: float, length: float):
  span = (high - low) or 1.0
  return lambda value: start + length * (value - low) / span


def _ticks(x_low, x_high, y_low, y_high, across, down, logarithmic):
  unscale = (lambda value: 10.0**value) if logarithmic else float
  parts = [
    f'<path fill="none" stroke="#999" d="M{_LEFT},{_TOP} V{_TOP + _HEIGHT} '
    f'H{_LEFT + _WIDTH}"/>'
  ]
  for i in range(5):
    x = x_low + (x_high - x_low) * i / 4
    y = y_low + (y_high - y_low) * i / 4
    parts += [
      f'<text x="{across(x):.1f}" y="{_TOP + _HEIGHT + 16}" '
      f'text-anchor="middle">{unscale(x):.3g}</text>',
      f'<text x="{_LEFT - 6}" y="{down(y) + 4:.1f}" text-anchor="end">'
      f'{unscale(y):.3g}</text>',
    ]
  return parts
