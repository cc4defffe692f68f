"""What calling a placed function costs, against the function itself.

    python -m benchmarks.hook_overhead

Calls each function and its placed twin in turn (A B A B, a block of calls
each), both on the same devices of one process: for three functions all ops are
on the only CPU device, and one is split by hand over two logical CPUs with
`tf.device`, and the same way by a placement. Prints the median call of each,
the paired ratio with its 95 % interval, and the difference. The bar is 5 % or
50 us a call; exit code 1 when a function is above both.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import app
from absl import flags

import placer
from placer.core import device as device_lib
from placer.core import placement as placement_lib
from placer.hooks import reimport
from placer.hooks import traced_function
from placer.search import paired_ratio

_BLOCKS = flags.DEFINE_integer(
  'blocks', 40, 'Blocks of calls of each function.', lower_bound=6
)
_BLOCK_SECONDS = flags.DEFINE_float(
  'block_seconds', 0.05, 'Seconds that a block takes.', lower_bound=0.001
)
_RATIO_BAR = 1.05
_SECONDS_BAR = 50e-6
_CPUS = tuple(device_lib.canonical(f'CPU:{i}') for i in range(2))


@dataclasses.dataclass(frozen=True)
class Case:
  """One function.

  Attributes:
    name: for the table.
    function: the tf.function.
    args: what it is called with.
  """

  name: str
  function: Callable[..., Any]
  args: tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Row:
  """What was measured of a case; times are seconds a call."""

  name: str
  original: float
  placed: float
  ratio: float
  interval: tuple[float, float]

  @property
  def within_bar(self) -> bool:
    """Whether the overhead is at most 5 % or 50 us."""
    return (
      self.ratio <= _RATIO_BAR or self.placed - self.original <= _SECONDS_BAR
    )


def cases() -> list[Case]:
  """The functions; variables and arguments are on the first CPU."""
  x = tf.random.stateless_normal([32, 64], [1, 2])
  w = [tf.Variable(tf.random.stateless_normal([64, 64], [i, 3]) / 8)
       for i in range(12)]  # fmt: skip

  def add(x):
    return x + 1.0

  def forward(x):
    for kernel in w:
      x = tf.tanh(tf.matmul(x, kernel))
    return x

  def train(x):
    with tf.GradientTape() as tape:
      loss = tf.reduce_mean(forward(x) ** 2)
    for kernel, gradient in zip(w, tape.gradient(loss, w), strict=True):
      kernel.assign_sub(1e-6 * gradient)
    return loss

  def split(x):
    with tf.device(_CPUS[0]):
      left = [tf.tanh(tf.matmul(x, kernel)) for kernel in w]
    with tf.device(_CPUS[1]):
      right = [tf.sin(part) for part in left]
      return tf.add_n(right)

  return [
    Case('add one (one op)', tf.function(add), (x,)),
    Case('12 dense layers', tf.function(forward), (x,)),
    Case('training step of them', tf.function(train), (x,)),
    Case('split over two devices', tf.function(split), (x,)),
  ]


def placed(case: Case) -> Callable[..., Any]:
  """The function, each op placed where it is anyway.

  Args:
    case: a function; ops that it gives no device are on the first CPU.

  Returns:
    The placed function.
  """
  traced = traced_function.trace(
    traced_function.polymorphic(case.function), case.args, {}, case.name
  )
  inlined = reimport.inline(traced)
  devices = {
    node.name: node.device or _CPUS[0] for node in inlined.graph_def.node
  }
  return placer.apply_placement(case.function, placement_lib.Placement(devices))


def measure(case: Case, blocks: int, block_seconds: float) -> Row:
  """Times a function and its placed twin in turn.

  Args:
    case: the function.
    blocks: how many blocks of each.
    block_seconds: how long a block takes, about.

  Returns:
    The Row.
  """
  twins = case.function, placed(case)
  for function in twins:
    _block(function, case.args, 20)
  count = max(1, int(block_seconds / _block(twins[0], case.args, 20)))
  times: tuple[list[float], list[float]] = ([], [])
  for _ in range(blocks):
    for function, found in zip(twins, times, strict=True):
      found.append(_block(function, case.args, count))
  return Row(
    case.name,
    float(np.median(times[0])),
    float(np.median(times[1])),
    paired_ratio.ratio(times[1], times[0]),
    paired_ratio.interval(times[1], times[0]),
  )


def _block(
  function: Callable[..., Any], args: tuple[Any, ...], count: int
) -> float:
  """Seconds a call, over `count` calls."""
  start = time.perf_counter()
  for _ in range(count):
    result = function(*args)
  result.numpy()
  return (time.perf_counter() - start) / count


def table(rows: Sequence[Row]) -> str:
  """The rows as a table of Markdown."""
  lines = [
    '| function | original | placed | ratio (95 %) | difference |',
    '|---|---|---|---|---|',
  ]
  for row in rows:
    low, high = row.interval
    lines.append(
      f'| {row.name} | {row.original * 1e6:.1f} us | '
      f'{row.placed * 1e6:.1f} us | {row.ratio:.3f} ({low:.3f}-{high:.3f}) | '
      f'{(row.placed - row.original) * 1e6:+.1f} us |'
    )
  return '\n'.join(lines)


def main(argv: Sequence[str]) -> None:
  """Runs the benchmark."""
  if len(argv) > 1:
    raise app.UsageError(f'Unexpected arguments: {argv[1:]}')
  cpu = tf.config.list_physical_devices('CPU')[0]
  tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * len(_CPUS)
  )
  rows = [
    measure(case, _BLOCKS.value, _BLOCK_SECONDS.value) for case in cases()
  ]
  print(table(rows))
  if not all(row.within_bar for row in rows):
    raise SystemExit(1)


if __name__ == '__main__':
  app.run(main)
