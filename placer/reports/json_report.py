"""report.json: all that a search was told, did and found.

    schema      1
    date        UTC, ISO 8601
    command     the command line, a list
    config      {name: value}, what the search was told
    seed        of the search
    versions    {package: version}, with python
    host        cpu_model, cores (usable), cores_online, memory_bytes, system
    graph       fingerprint, ops, groups, edges, flops
    devices     spec, stands_for, timing_is_meaningful, is_simulated, devices,
                links
    result      label, policy, improved, ratio, interval, reference,
                ops_per_device, step_time_seconds, interrupted, confidence,
                elapsed_seconds
    model       of the answer: predicted_seconds (null where it does not run in
                the model), bound_seconds, bound_method, within_bound (0.05 is
                5 %); null where nothing was predicted
    rows        the final comparison; each with its measurement
    whole_host  like a row, or null
    notes       sentences
    trials      as in trials.jsonl

Times are seconds, sizes bytes; ratios are step time over that of the best
single device, below 1 is faster.
"""

import dataclasses
import datetime
import json
import os
import pathlib
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from placer.core import device
from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.core import search_result

SCHEMA = 1
_PACKAGES = ('placer', 'tensorflow', 'tensorflow-cpu', 'numpy', 'absl-py')


def build(
  result: search_result.SearchResult,
  *,
  command: Sequence[str] = (),
  config: Mapping[str, Any] | None = None,
  seed: int = 0,
  versions: Mapping[str, str] | None = None,
  host: Mapping[str, Any] | None = None,
  date: str = '',
) -> dict[str, Any]:
  """The report's dict.

  Args:
    result: what the search found.
    command: the command line.
    config: what the search was told, JSON values.
    seed: of the search.
    versions: of packages; None looks them up.
    host: the machine; None looks at this one.
    date: ISO 8601; '' for now.

  Returns:
    The dict of the module docstring, with JSON values only.
  """
  now = datetime.datetime.now(datetime.UTC).isoformat(timespec='seconds')
  whole = result.whole_host
  report = {
    'schema': SCHEMA,
    'date': date or now,
    'command': list(command),
    'config': dict(config or {}),
    'seed': seed,
    'versions': dict(package_versions() if versions is None else versions),
    'host': dict(host_facts() if host is None else host),
    'graph': _graph(result.problem),
    'devices': _devices(result.problem.devices),
    'result': _result(result),
    'model': _model(result),
    'rows': [_row(result.problem, row) for row in result.rows],
    'whole_host': None if whole is None else _row(result.problem, whole),
    'notes': list(result.notes),
    'trials': [trial.to_json() for trial in result.trials],
  }
  # Through JSON once: no tuples, no numpy numbers, nothing that can't be
  # written later.
  return json.loads(json.dumps(report, default=_plain, allow_nan=False))


def write(report: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
  """Writes the report; an older file is replaced in one step.

  Args:
    report: what `build` gave.
    path: 'report.json'; its folder must exist.
  """
  path = pathlib.Path(path)
  partial = path.with_name(path.name + '.partial')
  with open(partial, 'w', encoding='utf-8') as file:
    json.dump(report, file, indent=1)
    file.write('\n')
    file.flush()
    os.fsync(file.fileno())
  partial.replace(path)


def package_versions() -> dict[str, str]:
  """The versions of Python and of the packages that decide results."""
  found = {'python': platform.python_version()}
  for package in _PACKAGES:
    try:
      found[package] = metadata.version(package)
    except metadata.PackageNotFoundError:
      continue
  return found


def host_facts() -> dict[str, Any]:
  """What this machine is: processor, cores, memory, system."""
  return {
    'cpu_model': _cpu_model(),
    'cores': len(os.sched_getaffinity(0)),
    'cores_online': os.cpu_count(),
    'memory_bytes': os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES'),
    'system': f'{platform.system()} {platform.release()}',
  }


def _cpu_model() -> str:
  try:
    lines = pathlib.Path('/proc/cpuinfo').read_text().splitlines()
  except OSError:
    lines = []
  for line in lines:
    key, _, value = line.partition(':')
    if key.strip() in ('model name', 'Model', 'cpu model'):
      return value.strip()
  return platform.processor() or platform.machine()


def _graph(problem: placement_problem.PlacementProblem) -> dict[str, Any]:
  return {
    'fingerprint': problem.graph.fingerprint,
    'problem_fingerprint': problem.fingerprint,
    'ops': len(problem.graph),
    'groups': problem.num_groups,
    'edges': len(problem.graph.edge_source),
    'flops': float(problem.graph.flops.sum()),
    'notes': problem.notes,
  }


def _devices(topology: device.DeviceTopology) -> dict[str, Any]:
  return {
    'spec': topology.spec,
    'stands_for': topology.stands_for,
    'timing_is_meaningful': topology.timing_is_meaningful,
    'is_simulated': topology.is_simulated,
    'devices': [dataclasses.asdict(one) for one in topology.devices],
    'links': [dataclasses.asdict(link) for link in topology.links],
  }


def _result(result: search_result.SearchResult) -> dict[str, Any]:
  chosen = result.chosen
  return {
    'label': chosen.label,
    'policy': chosen.policy,
    'improved': result.improved,
    'ratio': chosen.ratio,
    'interval': chosen.interval,
    'confidence': result.confidence,
    'reference': result.reference_label,
    'step_time_seconds': chosen.measurement.step_time_seconds,
    'ops_per_device': result.placement.counts(),
    'interrupted': result.interrupted,
    'elapsed_seconds': result.elapsed_seconds,
  }


def _model(result: search_result.SearchResult) -> dict[str, Any] | None:
  bound, predicted = result.bound, result.predicted_seconds
  if bound is None or not np.isfinite(bound.seconds):
    return None
  within = None if predicted is None else bound.gap(predicted)
  return {
    'predicted_seconds': predicted,
    'bound_seconds': bound.seconds,
    'bound_method': bound.method,
    'within_bound': within if within is not None and within < np.inf else None,
  }


def _row(
  problem: placement_problem.PlacementProblem, row: search_result.Row
) -> dict[str, Any]:
  measured: measurement_lib.Measurement = row.measurement
  return {
    'label': row.label,
    'policy': row.policy,
    'ratio': row.ratio,
    'interval': row.interval,
    'remeasured': row.remeasured,
    'step_time_seconds': measured.step_time_seconds,
    'ops_per_device': (
      problem.placement(row.candidate).counts() if len(row.candidate) else {}
    ),
    'measurement': measured.to_json(),
  }


def _plain(value: Any) -> Any:
  """What json can't write itself: numpy's numbers and arrays, paths."""
  if isinstance(value, np.generic | np.ndarray):
    return value.tolist()
  return str(value)
