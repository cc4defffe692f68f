"""Random legal placements of real graphs: do they run, where, and right?

    python -m benchmarks.random_placements --count=20

For every graph and kind of devices, `--count` uniformly random legal
placements. Each has to run with status ok, with no op on another device than
asked for (ops that Grappler removed are counted apart), and to compute what
the unplaced graph computes, within float32 tolerance. Graphs: those of others
that lie beside the checkout, and inception_v3. Prints a row for each; exit
code 1 when one fails.
"""

import dataclasses
import sys
from collections.abc import Mapping, Sequence

import numpy as np
from absl import app
from absl import flags

from placer.cli import builtin_models
from placer.devices import target
from placer.importers import base
from placer.measurers import session_measurer
from placer.measurers import session_options
from placer.problems import build
from placer.testing import placements
from placer.testing import shared_inputs

# mtcnn reads sizes and thresholds from its feeds; noise would let its image
# pyramid run without end.
_MTCNN_FEEDS = {
  'input': np.random.default_rng(0).uniform(0, 255, (96, 96, 3)),
  'min_size': np.array(40.0),
  'thresholds': np.array([0.1, 0.1, 0.1]),
  'factor': np.array(0.7),
}


@dataclasses.dataclass(frozen=True)
class Case:
  """A graph to place.

  Attributes:
    name: file in the folder of real graphs, or a built-in model.
    batch_size: of a built-in model, or None for a file.
    input_shapes: of feeds whose shape the graph leaves open.
    feeds: values of feeds, or None to make them.
  """

  name: str
  batch_size: int | None = None
  input_shapes: Mapping[str, tuple[int, ...]] = dataclasses.field(
    default_factory=dict
  )
  feeds: Mapping[str, np.ndarray] | None = None


CASES = (
  Case(
    'mtcnn.pb',
    input_shapes={'input': (96, 96, 3)},
    feeds={k: v.astype(np.float32) for k, v in _MTCNN_FEEDS.items()},
  ),
  Case('unrolled_lstm.pb'),
  Case('saved_model_half_plus_two_gpu'),
  Case('saved_model_half_plus_two_tf2_cpu'),
  Case('inception_v3', batch_size=1),
)


@dataclasses.dataclass(frozen=True)
class Outcome:
  """What `count` random placements of a case came to.

  Attributes:
    ok: placements that ran.
    equal: placements whose values equal the unplaced run's.
    moved: ops found on another device than asked for.
    removed: most ops that TensorFlow's optimiser removed.
    largest_difference: of any value, relative to its tensor's largest.
    reasons: of the failures.
  """

  ok: int
  equal: int
  moved: int
  removed: int
  largest_difference: float
  reasons: tuple[str, ...]


def run(
  case: Case, spec: str, count: int, seed: int = 0, tolerance: float = 1e-4
) -> Outcome:
  """Runs random placements of a case.

  Args:
    case: the graph.
    spec: of devices, 'local:2'.
    count: how many placements.
    seed: of the placements.
    tolerance: how far a value may be off, relative to its tensor's largest.

  Returns:
    An Outcome.
  """
  path = (
    str(shared_inputs.graphs() / case.name)
    if case.batch_size is None
    else builtin_models.path_of(
      case.name, training=False, batch_size=case.batch_size
    )
  )
  imported = base.load(
    path, base.ImportOptions(input_shapes=dict(case.input_shapes))
  )
  problem = build.build(imported, target.resolve(spec))
  options = session_options.SessionOptions(
    steps=1,
    warm_up_steps=0,
    feed_values=case.feeds,
  )
  ok = equal = moved = removed = 0
  largest, reasons = 0.0, []
  with session_measurer.SessionMeasurer(
    imported.program, problem.devices, options
  ) as measurer:
    expected = measurer.unplaced_values(problem)
    for i in range(count):
      candidate = placements.random_candidate(problem, seed + i)
      (measured,) = measurer.measure(problem, candidate[None])
      moved += len(measured.moved_ops)
      removed = max(removed, measured.removed_ops)
      if not measured.ok:
        reasons.append(f'{measured.status.value}: {measured.reason}')
        continue
      ok += 1
      values = measurer.fetch_values(problem, candidate)
      difference = _difference(values, expected)
      largest = max(largest, difference)
      equal += difference <= tolerance
  return Outcome(ok, equal, moved, removed, largest, tuple(reasons))


def _difference(
  values: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]
) -> float:
  if values.keys() != expected.keys():
    return np.inf
  worst = 0.0
  for name, value in expected.items():
    if value.shape != values[name].shape:
      return np.inf
    if value.dtype.kind in 'fc' and value.size:
      scale = max(float(np.abs(value).max()), 1e-30)
      worst = max(worst, float(np.abs(values[name] - value).max()) / scale)
    elif not np.array_equal(values[name], value):
      return np.inf
  return worst


def main(argv: Sequence[str]) -> None:
  """Runs every case on every kind of devices."""
  del argv
  failed = False
  print(
    f'{"graph":36} {"devices":10} {"ok":>7} {"equal":>7} {"moved":>6} '
    f'{"removed":>8} {"off by":>8}'
  )
  for case in CASES:
    for spec in _DEVICES.value:
      found = run(case, spec, _COUNT.value)
      print(
        f'{case.name:36} {spec:10} {found.ok:3}/{_COUNT.value:3} '
        f'{found.equal:3}/{_COUNT.value:3} {found.moved:6} '
        f'{found.removed:8} {found.largest_difference:8.1e}',
        flush=True,
      )
      for reason in found.reasons:
        print(f'  {reason[:200]}')
      failed |= found.equal < _COUNT.value or found.moved > 0
  sys.exit(int(failed))


if __name__ == '__main__':
  _COUNT = flags.DEFINE_integer('count', 20, 'Placements of each.')
  _DEVICES = flags.DEFINE_list('devices', ['logical:3', 'local:2'], 'Targets.')
  app.run(main)
