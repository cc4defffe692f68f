"""Searches for the placement that makes a step fastest, and writes it.

    placer place --model=inception_v3 --devices=local:2
    placer place --graph=model.pb --devices=auto --budget_seconds=600
    placer place --graph=model.pb --devices=simulated:k80x4

Measures each single device, the placements an engineer would try, and what
the policy suggests, all on the real devices; measures the best few again
against the best single device; and writes, in --output_dir:

    placed_graph.* or placed_saved_model/   the graph in the form it came in
    placement.json                          op -> device
    report.json                             everything that was measured
    trace_predicted.json                    the step that the model predicts
    trials.jsonl                            each trial, as soon as it is done

With --devices=simulated:… nothing is run, and all times are predicted. Graphs
of measured costs (see --graph) are planned so; they have no placed graph.

The answer is never slower than the best single device. What the model of the
costs says of it is printed too: its step, and a bound that no placement of the
same groups is below, found in a tenth of the budget, 10 s at most. A search
that is stopped or killed goes on where it was when the same command is run
again.
"""

import os
from collections.abc import Sequence

from absl import flags

from placer.cli import graph_flags
from placer.cli import job as job_lib
from placer.cli import paths
from placer.cli import policy_flags
from placer.cli import prediction
from placer.cli import run_flags
from placer.cli import whole_host
from placer.core import device as device_lib
from placer.core import errors
from placer.core import search_result
from placer.policies import registry
from placer.reports import json_report
from placer.reports import progress
from placer.reports import table
from placer.search import budget as budget_lib
from placer.search import loop
from placer.search import trial_log

SUMMARY = 'search, measure on the devices, write the placed graph'
_BUDGET_SECONDS = 180.0
# A trial in simulation takes less than a millisecond, its line in the report
# about a kilobyte.
_SIMULATED_BUDGET_SECONDS = 30.0
_SIMULATED_BUDGET_TRIALS = 10_000


def define(values: flags.FlagValues) -> None:
  """Defines the command's flags in `values`."""
  graph_flags.define(values)
  run_flags.define(values)
  policy_flags.define_config(values)
  policy_flags.define_checkpoint(values)
  flags.DEFINE_list(
    'policy',
    ['portfolio'],
    f'What suggests placements; several take turns: {_policies()}.',
    flag_values=values,
  )
  flags.DEFINE_float(
    'budget_seconds',
    None,
    'Wall time of the search, over all its resumed runs; 0 for no limit. '
    f'Default: {_BUDGET_SECONDS:.0f}, of simulated devices '
    f'{_SIMULATED_BUDGET_SECONDS:.0f}.',
    lower_bound=0.0,
    flag_values=values,
  )
  flags.DEFINE_integer(
    'budget_trials',
    None,
    'Trials of the search, over all its resumed runs. Default: no limit, of '
    f'simulated devices {_SIMULATED_BUDGET_TRIALS}.',
    lower_bound=1,
    flag_values=values,
  )
  flags.DEFINE_integer(
    'final_steps',
    20,
    'Steps of each finalist in the last comparison.',
    lower_bound=6,
    flag_values=values,
  )
  flags.DEFINE_string(
    'output_dir',
    '',
    'Folder for the results. Default: placer_output/NAME.',
    flag_values=values,
  )
  flags.DEFINE_list(
    'output_devices',
    [],
    'Device names to write into the placed graph, one for each of --devices, '
    'e.g. /device:GPU:0,/device:GPU:1. Default: the names of --devices.',
    flag_values=values,
  )
  flags.DEFINE_boolean(
    'require_improvement',
    False,
    'Exit with code 4 where no placement beats the best single device.',
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
    NoImprovementError: none was found and --require_improvement was given.
    PlacerError: see `placer.core.errors`.
  """
  if not values.policy:
    raise errors.UsageError(f'--policy= is empty. There are: {_policies()}.')
  # A wrong name is told before anything takes time.
  policy_flags.check(values, values.policy)
  job = job_lib.load(values)
  job.check_output_devices(values.output_devices)
  folder = _output_folder(values)
  _print_start(graph_flags.title(values), job, folder)
  result = _search(values, command, job, folder)
  result = prediction.add_bound(result, _budget(values, job).seconds)
  _write(values, command, job, result, folder)
  print(table.render(result), end='')
  if trace := prediction.write_trace(result, folder):
    print(trace)
  print(f'Written to {folder}')
  if values.require_improvement:
    _require_improvement(result)
  return 0


def _require_improvement(result: search_result.SearchResult) -> None:
  # Devices that share their cores show no improvement, whatever the clock says.
  devices = result.problem.devices
  if not devices.timing_is_meaningful:
    raise errors.NoImprovementError(
      f'Times on --devices={devices.spec} say nothing about speed, and '
      '--require_improvement asked for a faster placement. The results are '
      'written. Use devices that share no cores, e.g. --devices=local:2.'
    )
  if not result.improved:
    raise errors.NoImprovementError(
      'No placement is surely faster than the best single device, and '
      '--require_improvement asked for one. The results are written.'
    )


def _policies() -> str:
  return ', '.join(registry.names())


def _output_folder(values: flags.FlagValues) -> str:
  chosen = values.output_dir or os.path.join(
    'placer_output', graph_flags.title(values)
  )
  folder = paths.user_path(chosen)
  try:
    os.makedirs(os.path.join(folder, 'logs'), exist_ok=True)
  except OSError as error:
    raise errors.UsageError(
      f'--output_dir={folder} cannot be made: {error.strerror}.'
    ) from error
  return folder


def _print_start(title: str, job: job_lib.Job, folder: str) -> None:
  problem, topology = job.problem, job.problem.devices
  print(
    f'{title}: {len(problem.graph):,} ops in {problem.num_groups:,} groups to '
    f'place on {len(topology)} devices'
  )
  for device in topology.devices:
    print(f'  {device.short_name}  {device.description}'.rstrip())
  if topology.stands_for:
    print(f'  {topology.stands_for}')
  for note in (*job.notes, *problem.notes, *_busy(topology)):
    print(f'  - {note}')
  print(f'Results go to {folder}', flush=True)


def _busy(topology: device_lib.DeviceTopology) -> list[str]:
  """A warning where others use the cores that are to be timed."""
  load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
  if topology.is_simulated or load < 0.5 * cores:
    return []
  return [
    f'This host is busy (load {load:.1f} on {cores} cores): times will vary, '
    'more than the intervals say.'
  ]


def _search(
  values: flags.FlagValues,
  command: Sequence[str],
  job: job_lib.Job,
  folder: str,
) -> search_result.SearchResult:
  header = trial_log.Header(
    problem=job.log_key(values),
    command=tuple(command),
    config=_config(values),
  )
  line = progress.ProgressLine()
  with (
    trial_log.TrialLog(os.path.join(folder, 'trials.jsonl'), header) as log,
    job.measurer(values, os.path.join(folder, 'logs')) as measurer,
  ):
    if log.trials:
      print(f'Going on after {len(log.trials)} trials in trials.jsonl')
    job = job.with_costs(measurer)
    problem = job.problem
    try:
      result = loop.search(
        problem,
        measurer,
        [policy_flags.make(name, problem, values) for name in values.policy],
        baselines=registry.baselines(problem, seed=values.seed),
        config=job.search_config(values),
        budget=_budget(values, job),
        log=log,
        on_trial=line,
      )
    finally:
      line.close()
    return whole_host.add(result, measurer)


def _budget(values: flags.FlagValues, job: job_lib.Job) -> budget_lib.Budget:
  seconds, trials = values.budget_seconds, values.budget_trials
  if seconds is None:
    simulated = job.is_simulated
    seconds = _SIMULATED_BUDGET_SECONDS if simulated else _BUDGET_SECONDS
  if trials is None and job.is_simulated:
    trials = _SIMULATED_BUDGET_TRIALS
  return budget_lib.Budget(seconds or None, trials)


def _write(
  values: flags.FlagValues,
  command: Sequence[str],
  job: job_lib.Job,
  result: search_result.SearchResult,
  folder: str,
) -> None:
  placement = result.placement
  placement.save(os.path.join(folder, 'placement.json'))
  job.export(placement, folder, values.output_devices)
  report = json_report.build(
    result, command=command, config=_config(values), seed=values.seed
  )
  report['import_notes'] = list(job.notes)
  json_report.write(report, os.path.join(folder, 'report.json'))


def _config(values: flags.FlagValues) -> dict[str, object]:
  return dict(sorted(values.flag_values_dict().items()))
