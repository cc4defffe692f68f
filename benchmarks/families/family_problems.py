"""The members of a family as PlacementProblems, made once and then cached.

Making one takes seconds (building the graph, importing, coarsening), reading it
again does none of these, only the costs. A file in the cache folder is named by
what decides its content: the member's configuration, the types of the devices,
the number of groups, the sources that make it and TensorFlow's version. So the
problems on two and on eight GPUs are one file.
"""

import functools
import hashlib
import importlib.metadata
import pathlib
import tempfile
from collections.abc import Iterator

from benchmarks import families
from benchmarks import models
from benchmarks.families import base
from benchmarks.families import problem_file
from placer import core
from placer import importers
from placer import problems as problems_lib
from placer.core import cache_folder
from placer.core import device as device_lib
from placer.core import placement_problem
from placer.importers import base as importer
from placer.problems import build

_SOURCES = (families, models, core, importers, problems_lib)


def problems(
  family: str,
  split: str,
  devices: device_lib.DeviceTopology,
  max_groups: int | None = None,
  *,
  seed: int = 0,
) -> Iterator[tuple[str, placement_problem.PlacementProblem]]:
  """Yields (name, problem with costs) for each member, in order.

  Args:
    family: One of `base.names()`.
    split: 'train', 'test' or 'all'.
    devices: D devices, as a rule simulated ones.
    max_groups: Groups at most; None for the paper's number of the family.
    seed: Of the family's draws.

  Raises:
    ValueError: No such family or split; the message has the choices.
    NoFeasiblePlacementError: Ops can run on none of the devices.
  """
  for member in base.members(family, split, seed=seed):
    yield member.name, problem_of(member, devices, max_groups)


def problem_of(
  member: base.Member,
  devices: device_lib.DeviceTopology,
  max_groups: int | None = None,
) -> placement_problem.PlacementProblem:
  """Returns the problem of a member, from the cache if it is there.

  Args:
    member: Of a family.
    devices: D devices.
    max_groups: Groups at most; None for the paper's number of the family.

  Raises:
    NoFeasiblePlacementError: Ops can run on none of the devices.
  """
  groups = member.family.max_groups if max_groups is None else max_groups
  types = problem_file.device_types(devices)
  content = (member.config, types, groups, _version())
  key = hashlib.sha256(repr(content).encode()).hexdigest()[:16]
  file = cache_folder.find('families') / f'{member.name}-{key}.npz'
  if not file.exists():
    problem_file.save(_make(member, devices, groups), file)
  return problem_file.load(file, devices)


def _make(
  member: base.Member, devices: device_lib.DeviceTopology, max_groups: int
) -> placement_problem.PlacementProblem:
  with tempfile.TemporaryDirectory(prefix='placer-family-') as folder:
    path = pathlib.Path(folder, f'{member.name}.pb')
    path.write_bytes(member.build())
    imported = importer.load(path)
  return build.build(imported, devices, max_groups=max_groups)


@functools.cache
def _version() -> str:
  """A hash of all that makes a problem of a configuration."""
  digest = hashlib.sha256(importlib.metadata.version('tensorflow').encode())
  for package in _SOURCES:
    for file in sorted(pathlib.Path(package.__path__[0]).rglob('*.py')):
      if not file.name.endswith('_test.py'):
        digest.update(file.read_bytes())
  return digest.hexdigest()
