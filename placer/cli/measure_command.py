"""Times one placement again, beside the best single device.

    placer measure --graph=model.pb --placement=placement.json

Runs the placement and each single device on the real devices, steps taken in
turn, and prints medians, quartiles and the paired ratio with its interval.
--devices is by default what the placement was found for; simulated ones are
simulated again. --trace writes one step that was run, beside the placement:

    trace_measured.json    ops and transfers as a Chrome trace, to be compared
                           with the trace_predicted.json of `placer place`
"""

import os
from collections.abc import Sequence

import numpy as np
from absl import flags
from absl import logging

from placer.cli import graph_flags
from placer.cli import job as job_lib
from placer.cli import paths
from placer.cli import run_flags
from placer.cli import whole_host
from placer.core import errors
from placer.core import placement as placement_lib
from placer.core import placement_problem
from placer.core import search_result
from placer.measurers import session_measurer
from placer.measurers import step_timeline
from placer.measurers.processes import lane as lane_lib
from placer.policies import base as policies_base
from placer.policies import registry
from placer.reports import chrome_trace
from placer.reports import executed_trace
from placer.reports import json_report
from placer.reports import table
from placer.search import loop

SUMMARY = 'time one placement again'
TRACE = 'trace_measured.json'
_TRACED_STEPS = 6


class _Given(policies_base.Policy):
  """Suggests the placement of the file, once."""

  name = 'placement'
  summary = 'the placement of the file'

  def __init__(self, problem, candidate) -> None:
    super().__init__(problem)
    self._left = [policies_base.Suggestion(candidate, 'placement')]

  def suggest(self, count: int) -> Sequence[policies_base.Suggestion]:
    """The placement; then nothing."""
    given, self._left = self._left[:count], self._left[count:]
    return given


def define(values: flags.FlagValues) -> None:
  """Defines the command's flags in `values`."""
  graph_flags.define(values)
  run_flags.define(values)
  values['devices'].default = ''
  values['devices'].value = ''
  flags.DEFINE_string(
    'placement',
    None,
    'placement.json to be timed.',
    flag_values=values,
  )
  flags.DEFINE_integer(
    'final_steps',
    20,
    'Steps of each placement in the last comparison.',
    lower_bound=6,
    flag_values=values,
  )
  flags.DEFINE_string(
    'report', '', 'Write a report.json here.', flag_values=values
  )
  flags.DEFINE_boolean(
    'trace',
    False,
    f'Write {TRACE}, one step that was run, beside the placement; for '
    'ui.perfetto.dev.',
    flag_values=values,
  )


def run(values: flags.FlagValues, command: Sequence[str]) -> int:
  """Runs the command.

  Args:
    values: parsed flags.
    command: the command line.

  Returns:
    The exit code, 0.

  Raises:
    UsageError: --placement is missing or not of this graph, or --trace of
      simulated devices.
    NoFeasiblePlacementError: the placement does not run.
  """
  if not values.placement:
    raise errors.UsageError(
      'Pass --placement=placement.json, which `placer place` writes.'
    )
  placement = placement_lib.load(paths.user_path(values.placement))
  values.devices = values.devices or placement.devices_spec or 'auto'
  job = _load(values)
  problem = job.problem
  candidate = _candidate(problem, placement)
  with job.measurer(values, '') as measurer:
    result = loop.search(
      problem,
      measurer,
      [],
      baselines=[
        registry.make('single_device', problem),
        _Given(problem, candidate),
      ],
      config=job.search_config(values),
    )
    result = whole_host.add(result, measurer)
    print(table.render(result), end='')
    failed = _failures(result)
    if values.trace and not failed:
      folder = os.path.dirname(paths.user_path(values.placement))
      _write_trace(measurer, problem, candidate, os.path.join(folder, TRACE))
  if values.report:
    report = json_report.build(result, command=command, seed=values.seed)
    json_report.write(report, paths.user_path(values.report))
  if failed:
    raise errors.NoFeasiblePlacementError(
      f'The placement does not run: {failed[0].measurement.status.value}: '
      f'{failed[0].measurement.reason}'
    )
  return 0


def _load(values: flags.FlagValues) -> job_lib.Job:
  job = job_lib.load(values)
  if values.trace and job.is_simulated:
    raise errors.UsageError(
      f'--trace shows a step that was run; on --devices={values.devices} none '
      'is. `placer place` writes trace_predicted.json for them.'
    )
  return job


def _failures(
  result: search_result.SearchResult,
) -> list[search_result.Row]:
  return [
    row
    for row in result.rows
    if row.policy == _Given.name and not row.measurement.ok
  ]


def _write_trace(
  measurer: session_measurer.SessionMeasurer,
  problem: placement_problem.PlacementProblem,
  candidate: np.ndarray,
  path: str,
) -> None:
  """Traces a step; the times above stand without it."""
  try:
    traces = measurer.trace(problem, candidate, steps=_TRACED_STEPS)
    step = step_timeline.choose(traces, problem.devices.names)
  except (lane_lib.FailedError, ValueError) as error:
    logging.warning('There is no trace of the step: %s', error)
    return
  built = executed_trace.build(step, problem.devices.devices, label=_Given.name)
  chrome_trace.write(built, path)
  print(f'A step that was run is in {path}; open it in ui.perfetto.dev.')


def _candidate(
  problem: placement_problem.PlacementProblem,
  placement: placement_lib.Placement,
):
  known = sum(name in problem.graph.index for name in placement.devices)
  if not known:
    raise errors.UsageError(
      'The placement names none of the ops of this graph. Was it made for '
      'another --graph, --model, --fetches or --signature?'
    )
  candidate = problem.candidate(placement)
  placed = problem.placement(candidate).devices
  moved = [
    name
    for name, device in placement.devices.items()
    if name in placed
    and problem.devices.index(device) != problem.devices.index(placed[name])
  ]
  if moved:
    print(
      f'{len(moved)} ops cannot be where the placement has them (e.g. '
      f'{moved[0]!r}): their group must share a device. Its majority decides.'
    )
  missing = len(problem.graph) - known
  if missing:
    print(
      f'{missing} ops are not in the placement; they stay with their group.'
    )
  return candidate
