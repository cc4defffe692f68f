"""Finds the placement of a traced function: from the cache, or by a search.

A search is that of `placer place`: the step's graph runs in child processes on
the devices, baselines and the policy's suggestions are measured, the best few
are measured again, and the answer is never slower than the best single device.

Found placements are kept, by what decides them: the graph (ops, types, sizes,
edges), the devices, what may not be moved, the policies, and the versions of
Python, placer, TensorFlow and numpy. A kept placement counts whatever the
budget was that found it; `use_cache=False` searches anew.
"""

import dataclasses
import hashlib
import os
import pathlib
import tempfile
from collections.abc import Mapping

from absl import logging

from placer.core import cache_folder
from placer.core import device as device_lib
from placer.core import errors
from placer.core import placement as placement_lib
from placer.core import placement_problem
from placer.core import search_result
from placer.hooks import options as options_lib
from placer.hooks import step_graph
from placer.measurers import session_measurer
from placer.measurers import session_options
from placer.policies import registry
from placer.problems import build
from placer.problems import profiled_costs
from placer.reports import json_report
from placer.reports import table
from placer.search import budget as budget_lib
from placer.search import loop
from placer.search import trial_log


@dataclasses.dataclass(frozen=True)
class Found:
  """A placement and the file it is in.

  Attributes:
    placement: op path of the traced function -> device.
    path: its placement.json.
  """

  placement: placement_lib.Placement
  path: str


def problem_of(
  step: step_graph.StepGraph,
  topology: device_lib.DeviceTopology,
  pinned: Mapping[str, int],
) -> placement_problem.PlacementProblem:
  """What a policy decides on.

  Args:
    step: the function's graph.
    topology: the devices.
    pinned: {op path: index of the device that it must have}.

  Returns:
    The PlacementProblem.

  Raises:
    NoFeasiblePlacementError: some ops can run on none of the devices.
  """
  return build.build(step.imported, topology, pinned=pinned)


def find(
  name: str,
  step: step_graph.StepGraph,
  problem: placement_problem.PlacementProblem,
  options: options_lib.HookOptions,
  output_dir: str = '',
) -> Found:
  """The placement of a function's graph.

  Args:
    name: of the function.
    step: its graph.
    problem: of `problem_of`.
    options: how to search.
    output_dir: folder for the results, '' for none.

  Returns:
    What was found.

  Raises:
    PlacerError: see `placer.core.errors`.
  """
  kept = _cache_file(name, problem, options)
  if options.use_cache and (placement := _kept(kept)) is not None:
    logging.info('%s: placement of an earlier search, %s', name, kept)
  else:
    placement = _search(name, step, problem, options, output_dir)
    placement.save(kept)
  if not output_dir:
    return Found(placement, str(kept))
  os.makedirs(output_dir, exist_ok=True)
  path = os.path.join(output_dir, 'placement.json')
  placement.save(path)
  return Found(placement, path)


def _kept(path: pathlib.Path) -> placement_lib.Placement | None:
  try:
    return placement_lib.load(path)
  except errors.UsageError:
    return None  # not there, or damaged: found again


def _cache_file(
  name: str,
  problem: placement_problem.PlacementProblem,
  options: options_lib.HookOptions,
) -> pathlib.Path:
  text = repr(
    (
      problem.fingerprint,
      options.policies,
      sorted(json_report.package_versions().items()),
    )
  )
  digest = hashlib.sha256(text.encode()).hexdigest()[:16]
  safe = ''.join(c if c.isalnum() else '_' for c in name)[:60]
  return cache_folder.find('functions') / f'{safe}-{digest}.json'


def _search(
  name: str,
  step: step_graph.StepGraph,
  problem: placement_problem.PlacementProblem,
  options: options_lib.HookOptions,
  output_dir: str,
) -> placement_lib.Placement:
  logging.info(
    '%s: %d ops in %d groups to place on %s',
    name,
    len(problem.graph),
    problem.num_groups,
    problem.devices.spec,
  )
  with tempfile.TemporaryDirectory(prefix='placer-') as temporary:
    folder = output_dir or temporary
    os.makedirs(os.path.join(folder, 'logs'), exist_ok=True)
    result = _measured(name, step, problem, options, folder)
    if output_dir:
      _report(name, result, options, folder)
  logging.info('%s:\n%s', name, table.render(result))
  return result.placement


def _measured(
  name: str,
  step: step_graph.StepGraph,
  problem: placement_problem.PlacementProblem,
  options: options_lib.HookOptions,
  folder: str,
) -> search_result.SearchResult:
  header = trial_log.Header(
    problem=f'{problem.fingerprint}-function',
    command=(f'placer.place_function({name})',),
    config=_config(options),
  )
  session = session_options.SessionOptions(
    allow_side_effects=options.allow_side_effects,
    feed_values=step.feed_values,
    seed=options.seed,
    work_dir=os.path.join(folder, 'logs'),
  )
  log_path = os.path.join(folder, 'trials.jsonl')
  with (
    trial_log.TrialLog(log_path, header) as log,
    session_measurer.SessionMeasurer(
      step.imported.program, problem.devices, session
    ) as measurer,
  ):
    problem = profiled_costs.measured_problem(
      problem, measurer.measure_links(), measurer.profile(problem)
    )
    return loop.search(
      problem,
      measurer,
      [
        registry.make(policy, problem, seed=options.seed)
        for policy in options.policies
      ],
      baselines=registry.baselines(problem, seed=options.seed),
      config=loop.SearchConfig(seed=options.seed),
      budget=budget_lib.Budget(
        options.budget_seconds or None, options.budget_trials
      ),
      log=log,
    )


def _report(
  name: str,
  result: search_result.SearchResult,
  options: options_lib.HookOptions,
  folder: str,
) -> None:
  report = json_report.build(
    result,
    command=(f'placer.place_function({name})',),
    config=_config(options),
    seed=options.seed,
  )
  json_report.write(report, os.path.join(folder, 'report.json'))


def _config(options: options_lib.HookOptions) -> dict[str, object]:
  return {
    field.name: getattr(options, field.name)
    for field in dataclasses.fields(options)
    if field.name not in ('placement', 'device_names')
  }
