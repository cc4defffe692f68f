"""Is the peak memory of a step what the model says? By placement.

    python -m benchmarks.memory_benchmark --models=nasnet_mobile,transformer

For each model: a profile, and then `--placements` placements (see
`fidelity_placements.py`), of each of which `_STEPS` steps are traced. Peaks of
all devices that hold anything are compared with the prediction:

  a step    the peak of one traced step, the runtime's own figure;
  the mean  of the peaks of all traced steps;
  the most  of them, which is what a memory limit has to hold;
  fullest   the most, only of the device that holds most of a placement: the one
            that a limit is about.

`spread` is how much the peaks of two steps of one placement differ: no
prediction of a single step can be better than about half of it.
"""

import time
from collections.abc import Sequence

import numpy as np
from absl import app
from absl import flags
from tensorflow.core.protobuf import config_pb2

from benchmarks import fidelity
from benchmarks import fidelity_placements
from placer.cli import builtin_models
from placer.devices import cores
from placer.devices import target
from placer.importers import base
from placer.measurers import peak_memory
from placer.measurers import session_measurer
from placer.measurers import session_options
from placer.problems import build
from placer.problems import profiled_costs
from placer.simulation import simulator

_FLAGS = flags.FLAGS
_STEPS = 3
_COLUMNS = ('a step', 'the mean', 'the most', 'fullest', 'spread')


def main(unused_argv: Sequence[str]) -> None:
  """Prints the table, a line as soon as it is known."""
  print(
    f'{time.strftime("%Y-%m-%d")}, `{_FLAGS.devices}` on cores of '
    f'{cores.cpu_model()}; absolute errors: median / 90 % below\n\n'
    f'| model | placements | {" | ".join(_COLUMNS)} |\n|'
    + '---|'
    * (2 + len(_COLUMNS))
  )
  for name, training in fidelity.MODELS:
    if name in _FLAGS.models:
      predicted, measured = _peaks(name, training)
      cells = errors(predicted, measured)
      print(
        f'| {name} | {len(predicted)} '
        + ''.join(f'| {_text(cells[column])} ' for column in _COLUMNS)
        + '|',
        flush=True,
      )


def errors(
  predicted: np.ndarray, measured: np.ndarray
) -> dict[str, np.ndarray]:
  """The errors of the columns; see the module docstring.

  Args:
    predicted: int64 `[B, D]`, bytes.
    measured: int64 `[B, S, D]`, of S steps.

  Returns:
    {column: relative errors, in any order}.
  """
  held = measured.min(axis=1) > 0
  most = measured.max(axis=1)
  fullest = np.zeros_like(held)
  fullest[np.arange(len(most)), most.argmax(axis=1)] = True

  def of(actual, where):
    return np.abs(predicted[where] / actual[where] - 1)

  return {
    'a step': of(measured[:, 0], held),
    'the mean': of(measured.mean(axis=1), held),
    'the most': of(most, held),
    'fullest': of(most, held & fullest),
    'spread': np.abs(measured[:, 0][held] / measured[:, 1][held] - 1),
  }


def _peaks(name: str, training: bool) -> tuple[np.ndarray, np.ndarray]:
  """Predicted int64 `[B, D]` and measured int64 `[B, S, D]`."""
  path = builtin_models.path_of(name, training=training, batch_size=None)
  imported = base.load(path)
  problem = build.build(imported, target.resolve(_FLAGS.devices))
  with session_measurer.SessionMeasurer(
    imported.program,
    problem.devices,
    session_options.SessionOptions(warm_up_steps=1),
  ) as measurer:
    problem = profiled_costs.measured_problem(
      problem, measurer.measure_links(), measurer.profile(problem)
    )
    candidates, measured = [], []
    for _, candidate in fidelity_placements.placements(
      problem, _FLAGS.placements
    ):
      traces = measurer.trace(problem, candidate, steps=_STEPS)
      candidates.append(candidate)
      measured.append([_of_trace(t, problem.devices.names) for t in traces])
  batch = simulator.simulate(problem, problem.costs, np.stack(candidates))
  return batch.peak_bytes, np.array(measured)


def _of_trace(trace: bytes, devices: Sequence[str]) -> list[int]:
  metadata = config_pb2.RunMetadata.FromString(trace)
  peaks, _ = peak_memory.read(metadata, shared_allocator=False)
  return [peaks.get(device, 0) for device in devices]


def _text(found: np.ndarray) -> str:
  return f'{100 * np.median(found):.1f} / {100 * np.quantile(found, 0.9):.1f} %'


if __name__ == '__main__':
  app.run(main)
