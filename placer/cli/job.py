"""Job: the graph and the devices that the flags name, and how to time a step.

| graph            | `--devices`               | a step is                     |
|------------------|---------------------------|-------------------------------|
| TensorFlow graph | real ones                 | run, in processes             |
| TensorFlow graph | `simulated:…`             | simulated, with roofline costs|
| cost graph       | `simulated:…`             | simulated, with its own times |
| cost graph       | `auto`: the file's own    | simulated, with its own times |

  problem: the PlacementProblem, with costs.
  imported: the ImportedGraph, or None for a cost graph, which has nothing to
    run and no placed graph to write.
  notes: sentences of the import, for the user.
"""

import dataclasses
import hashlib
from collections.abc import Sequence

from absl import flags

from placer.cli import graph_flags
from placer.cli import run_flags
from placer.core import device as device_lib
from placer.core import errors
from placer.core import placement as placement_lib
from placer.core import placement_problem
from placer.importers import base as importers_base
from placer.importers import cost_graph
from placer.measurers import base as measurers_base
from placer.measurers import session_measurer
from placer.measurers import simulation_measurer
from placer.problems import build
from placer.problems import cost_graph_problem
from placer.problems import profiled_costs
from placer.rewriters import export
from placer.search import loop
from placer.search import paired_ratio

# Enough for a policy to be told at once, little enough to learn soon.
_BATCH_SIZE = 64


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
  """What is to be placed, and where; see the module docstring."""

  problem: placement_problem.PlacementProblem
  imported: importers_base.ImportedGraph | None
  notes: tuple[str, ...] = ()

  @property
  def is_simulated(self) -> bool:
    """Whether nothing is run."""
    return self.problem.devices.is_simulated

  @property
  def step_key(self) -> str:
    """Equal for jobs in which a step does the same, and takes as long."""
    if self.is_simulated:
      step = _costs_digest(self.problem)
    else:
      step = self.imported.program.fingerprint
    return f'{self.problem.fingerprint}-{step}'

  def log_key(self, values: flags.FlagValues) -> str:
    """Equal for searches whose trials may share a log.

    Args:
      values: parsed flags of `run_flags.define`; they say what is fed.

    Returns:
      A hash.
    """
    if self.is_simulated or not self.imported.program.feeds:
      return self.step_key
    return f'{self.step_key}-{run_flags.feeds_digest(values)}'

  def measurer(
    self, values: flags.FlagValues, work_dir: str
  ) -> measurers_base.Measurer:
    """What times placements; the caller closes it.

    Args:
      values: parsed flags of `run_flags.define`.
      work_dir: folder for logs of processes; '' for a temporary one.

    Returns:
      The Measurer.
    """
    if self.is_simulated:
      return simulation_measurer.SimulationMeasurer()
    return session_measurer.SessionMeasurer(
      self.imported.program,
      self.problem.devices,
      run_flags.session_options_of(values, work_dir),
    )

  def with_costs(self, measurer: measurers_base.Measurer) -> 'Job':
    """The job with costs by measured links and profiles.

    Args:
      measurer: of this job, open.

    Returns:
      The Job. Simulated devices have their costs already.
    """
    if self.is_simulated:
      return self
    problem = profiled_costs.measured_problem(
      self.problem, measurer.measure_links(), measurer.profile(self.problem)
    )
    return dataclasses.replace(self, problem=problem)

  def search_config(self, values: flags.FlagValues) -> loop.SearchConfig:
    """How to search. Simulated steps are all equal, so one is enough."""
    if not self.is_simulated:
      return loop.SearchConfig(
        steps=values.steps, final_steps=values.final_steps, seed=values.seed
      )
    return loop.SearchConfig(
      batch_size=_BATCH_SIZE,
      steps=1,
      final_steps=paired_ratio.MIN_PAIRS,
      give_up_ratio=None,
      seed=values.seed,
    )

  def check_output_devices(self, names: Sequence[str]) -> None:
    """Checks `--output_devices`.

    Args:
      names: one for each device, or none.

    Raises:
      UsageError: too few, too many, or not names of devices.
    """
    if names and len(names) != len(self.problem.devices):
      raise errors.UsageError(
        f'--output_devices={",".join(names)} has {len(names)} names; --devices '
        f'has {len(self.problem.devices)} devices. Give one for each.'
      )
    for name in names:
      device_lib.parse(name)

  def export(
    self,
    placement: placement_lib.Placement,
    folder: str,
    output_devices: Sequence[str] = (),
  ) -> None:
    """Writes the placed graph, if there is a graph.

    Args:
      placement: op path -> device.
      folder: where to.
      output_devices: names to write, one for each device; () for their own.
    """
    imported = self.imported
    if imported is None:
      return
    own = self.problem.devices.names
    written = dict(zip(own, output_devices or own, strict=True))
    export.export(
      imported.original,
      {
        path: written[device]
        for path, device in placement.devices.items()
        if path not in imported.not_original
      },
      imported.source,
      folder,
      meta_graph_index=imported.meta_graph_index,
    )


def load(values: flags.FlagValues) -> Job:
  """The job of the flags.

  Args:
    values: parsed flags of `graph_flags.define` and `run_flags.define`.

  Returns:
    The Job; links of real devices are not measured.

  Raises:
    PlacerError: see `placer.core.errors`.
  """
  found = graph_flags.cost_graph(values)
  if found is not None:
    return _of_cost_graph(found, values)
  imported = graph_flags.load(values)
  problem = build.build(
    imported, run_flags.topology(values), max_groups=values.max_groups
  )
  return Job(problem, imported, imported.notes)


def _of_cost_graph(
  found: cost_graph.CostGraph, values: flags.FlagValues
) -> Job:
  if values.devices == 'auto':
    topology = run_flags.limited(
      cost_graph_problem.own_devices(found, values.devices), values
    )
  elif values.devices.startswith('simulated'):
    topology = run_flags.topology(values)
  else:
    raise errors.UsageError(
      f'{found.source!r} is a graph of measured costs, which cannot be run on '
      f'--devices={values.devices}. Pass --devices=simulated:v100x4 or the '
      "like; --devices=auto takes the file's own devices, if it has any."
    )
  problem = cost_graph_problem.build(
    found, topology, max_groups=values.max_groups
  )
  return Job(problem, None, found.notes)


def _costs_digest(problem: placement_problem.PlacementProblem) -> str:
  """A hash of all that a simulated step depends on beside the problem."""
  digest = hashlib.sha256()
  model = problem.costs
  for part in (model, model.links, model.host_links):
    for field in dataclasses.fields(part):
      value = getattr(part, field.name)
      if hasattr(value, 'tobytes'):
        digest.update(value.tobytes())
  return digest.hexdigest()[:16]
