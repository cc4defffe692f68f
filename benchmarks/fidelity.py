"""Does the cost model predict real steps? Time and memory, by placement.

    python -m benchmarks.fidelity --output=fidelity.jsonl \
        --report=benchmarks/results/fidelity.md --plot=…/fidelity.svg

For each model: links and ops are profiled, the single devices and `_PROBES`
other placements measured, to fit the factors of `policies/correction.py`; then
`--placements` placements are predicted and, after that, measured, each paired
with the best single device (A B A B). The placements: random ones, splits at
random cuts, those of every planner, and annealed ones. None was used to fit.
Each is measured in `_SESSIONS` sessions, with all others between two of them,
since a shared host is slower for minutes; what counts is their median.

Each session is appended to `--output` at once; a killed run goes on. The
report has, for each model, the median and the 90th percentile of the absolute
error, Spearman's rank correlation, how much slower than the best measured
placement the one predicted best is, the error of the predicted peak memory of
the devices, and the roofline's error, which nothing was profiled for.
"""

import dataclasses
import itertools
import json
import os
import platform
import time
from collections.abc import Sequence

import numpy as np
from absl import app
from absl import flags

from benchmarks import fidelity_placements
from benchmarks import fidelity_report
from placer.cli import builtin_models
from placer.core import placement_problem
from placer.core import trial as trial_lib
from placer.devices import cores
from placer.devices import target
from placer.importers import base as importers_base
from placer.measurers import session_measurer
from placer.measurers import session_options
from placer.policies import calibration
from placer.policies import correction
from placer.policies import registry
from placer.problems import build
from placer.problems import costs
from placer.problems import profiled_costs
from placer.search import history
from placer.simulation import simulator

# (name, a training step?)
MODELS = (
  ('inception_v3', False),
  ('nasnet_mobile', False),
  ('rnnlm', False),
  ('nmt_2', True),
  ('transformer', False),
  ('mixture_of_experts', False),
)
_PROBES = 6
_PROBE_SEED = 1
_SESSIONS = 2
_TIMED_SECONDS = 2.0
_MIN_STEPS, _MAX_STEPS = 4, 20

_FLAGS = flags.FLAGS
flags.DEFINE_list('models', [name for name, _ in MODELS], 'Which models.')
flags.DEFINE_string('devices', 'local:2', 'Real devices.')
flags.DEFINE_integer('placements', 25, 'Of each model.')
flags.DEFINE_string('output', None, 'JSON lines, one a session.')
flags.DEFINE_string('report', '', 'Markdown file to write.')
flags.DEFINE_string('plot', '', 'SVG file: predicted against measured.')


def main(unused_argv: Sequence[str]) -> None:
  """Measures what is missing in --output, then writes the report."""
  known = fidelity_report.read(_FLAGS.output)
  for name, training in MODELS:
    if name in _FLAGS.models:
      done = [row for row in known if row['model'] == name]
      if len(done) < _FLAGS.placements * _SESSIONS:
        _measure(
          name, training, {(row['placement'], row['session']) for row in done}
        )
  rows = fidelity_report.merged(fidelity_report.read(_FLAGS.output))
  text = fidelity_report.markdown(rows, _hardware())
  print(text)
  if _FLAGS.report:
    with open(_FLAGS.report, 'w') as file:
      file.write(text)
  if _FLAGS.plot:
    with open(_FLAGS.plot, 'w') as file:
      file.write(fidelity_report.plot(rows))


def _measure(name: str, training: bool, done: set[tuple[str, int]]) -> None:
  path = builtin_models.path_of(name, training=training, batch_size=None)
  imported = importers_base.load(path)
  problem = build.build(imported, target.resolve(_FLAGS.devices))
  with session_measurer.SessionMeasurer(
    imported.program,
    problem.devices,
    session_options.SessionOptions(warm_up_steps=2),
  ) as measurer:
    begin = time.monotonic()
    profiles = measurer.profile(problem, use_cache=False)
    links = measurer.measure_links(use_cache=False)
    print(f'{name}: profiled in {time.monotonic() - begin:.0f} s', flush=True)
    problem = profiled_costs.measured_problem(problem, links, profiles)
    roofline = dataclasses.replace(
      problem, costs=costs.analytic(problem.graph, problem.devices)
    )
    fitted, reference, probes = _fitted(problem, measurer)
    # As usual in all measurements so far.
    single_seconds = calibration.step_seconds(fitted)[reference.index]
    models = [
      correction.fit(each, each.costs, fitted) for each in (problem, roofline)
    ]
    print(name, models[0].links, flush=True)
    chosen = list(
      fidelity_placements.placements(problem, _FLAGS.placements, probes)
    )
    for session, (label, candidate) in itertools.product(
      range(_SESSIONS), chosen
    ):
      if (label, session) not in done:
        row = {
          'model': name,
          'training': training,
          'placement': label,
          'session': session,
          **_row(
            problem, measurer, models, reference, single_seconds, candidate
          ),
        }
        with open(_FLAGS.output, 'a') as file:
          file.write(json.dumps(row) + '\n')
        said = row['status'], row['predicted_seconds'], row['seconds']
        print(name, label, *said, flush=True)


def _fitted(problem, measurer):
  """(trials to fit, the best single device's trial, the other placements)."""
  fitted = _singles(problem, measurer)
  times = calibration.step_seconds(fitted)
  reference = fitted[min(times, key=times.get)]
  probes = _probes(problem)
  for _ in range(_SESSIONS):
    for label, candidate in probes.items():
      measured = _measured(problem, measurer, candidate, reference)
      fitted.append(_trial(len(fitted), label, candidate, measured, reference))
  return fitted, reference, list(probes.values())


def _probes(problem) -> dict[str, np.ndarray]:
  """What is measured to fit: half random, half as a search would find them."""
  rng = np.random.default_rng(_PROBE_SEED)
  found = dict(
    itertools.islice(fidelity_placements.random(problem, rng), _PROBES // 2)
  )
  for seed in range(_PROBES - len(found)):
    found[f'probe {seed}'] = fidelity_placements.annealed(problem, 100 + seed)
  return {
    label: placement_problem.nearest_legal(row, problem.allowed)
    for label, row in found.items()
  }


def _measured(problem, measurer, candidate, reference):
  """The Measurement of one session."""
  seconds = reference.measurement.step_time_seconds
  steps = int(_TIMED_SECONDS / (2 * seconds))
  (measured,) = measurer.measure(
    problem,
    candidate[np.newaxis],
    reference=reference.candidate,
    steps=min(max(steps, _MIN_STEPS), _MAX_STEPS),
  )
  return measured


def _singles(problem, measurer) -> list[trial_lib.Trial]:
  """The single devices, measured against the first of them."""
  found = []
  for suggestion in registry.make('single_device', problem).suggest(64):
    first = found[0] if found else None
    (measured,) = measurer.measure(
      problem,
      suggestion.candidate[np.newaxis],
      reference=first.candidate if first else None,
      steps=2 * _MIN_STEPS,
    )
    found.append(
      _trial(len(found), 'single_device', suggestion.candidate, measured, first)
    )
  return found


def _trial(index, label, candidate, measured, reference) -> trial_lib.Trial:
  measured = history.with_reference(measured, reference)
  return trial_lib.Trial(index, label, candidate, measured)


def _row(problem, measurer, models, reference, single_seconds, candidate):
  """What is predicted of a placement, and then measured."""
  predicted = [each.predict(candidate[np.newaxis])[0][0] for each in models]
  batch = simulator.simulate(problem, models[0].costs, candidate[np.newaxis])
  measured = _measured(problem, measurer, candidate, reference)
  row = {
    'status': measured.status.value,
    'predicted_seconds': float(predicted[0]),
    'roofline_seconds': float(predicted[1]),
    'single_seconds': single_seconds,
    'seconds': None,
    'predicted_peak_bytes': batch.peak_bytes[0].tolist(),
    'peak_bytes': [
      measured.peak_memory_bytes.get(device, 0)
      for device in problem.devices.names
    ],
  }
  if measured.ok:
    # Freed from drift: the ratio to the single device beside it.
    ratio = measured.step_time_seconds / float(
      np.median(measured.reference_times_seconds)
    )
    row['seconds'] = ratio * single_seconds
  return row


def _hardware() -> str:
  return (
    f'{time.strftime("%Y-%m-%d")}, `{_FLAGS.devices}` on '
    f'{len(os.sched_getaffinity(0))} cores of '
    f'{cores.cpu_model() or platform.processor()}'
  )


if __name__ == '__main__':
  flags.mark_flag_as_required('output')
  app.run(main)
