"""What `placer train` learns: one graph, or the files of a pattern."""

import dataclasses
import glob
from typing import Any

from absl import flags

from placer.cli import graph_flags
from placer.cli import job as job_lib
from placer.cli import paths
from placer.cli import policy_flags
from placer.core import errors
from placer.policies import registry


@dataclasses.dataclass(frozen=True, eq=False)
class TrainingGraphs:
  """P titles and jobs."""

  titles: list[str]
  jobs: list[job_lib.Job]

  @property
  def problems(self) -> list[Any]:
    return [job.problem for job in self.jobs]

  def with_profiled_costs(self, values: flags.FlagValues) -> 'TrainingGraphs':
    """The same, with the costs that real devices have."""
    jobs = [_with_costs(values, job) for job in self.jobs]
    return dataclasses.replace(self, jobs=jobs)


def load(values: flags.FlagValues, kind: type) -> TrainingGraphs:
  """Imports what --graphs, --graph or --model names.

  Args:
    values: parsed flags.
    kind: the policy that is to learn them.

  Returns:
    The graphs, sorted by file.

  Raises:
    PlacerError: see `placer.core.errors`.
  """
  if not values.graphs:
    return TrainingGraphs([graph_flags.title(values)], [job_lib.load(values)])
  if values.graph or values.model:
    raise errors.UsageError(
      'Pass one of --graphs=PATTERN, --graph=FILE and --model=NAME.'
    )
  files = sorted(glob.glob(paths.user_path(values.graphs)))
  _check_files(values, files, kind)
  titles, jobs = [], []
  for file in files:
    values.graph = file
    titles.append(graph_flags.title(values))
    jobs.append(job_lib.load(values))
  values.graph = None
  return TrainingGraphs(titles, jobs)


def _check_files(values, files: list[str], kind) -> None:
  if not files:
    raise errors.UsageError(
      f"--graphs={values.graphs} matches no file. Quote it: --graphs='dir/*'."
    )
  if len(files) > 1 and not kind.supports_many_graphs:
    many = [
      name
      for name in policy_flags.learned_names()
      if registry.get(name).supports_many_graphs
    ]
    raise errors.UsageError(
      f'--policy={kind.name} learns one graph; --graphs={values.graphs} '
      f'matches {len(files)}. Several take: {", ".join(many) or "none"}.'
    )


def _with_costs(values: flags.FlagValues, job: job_lib.Job) -> job_lib.Job:
  if job.is_simulated:
    return job
  print(f'Profiling {values.devices}', flush=True)
  with job.measurer(values, '') as measurer:
    return job.with_costs(measurer)
