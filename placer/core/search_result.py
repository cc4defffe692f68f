"""SearchResult: what a search found, ready to be reported.

Ratios are step times over those of the best single device: below 1 is faster.

`Row`: one placement of the final comparison.
  label: for people: 'single_device /job:worker/task:0', 'layers'.
  policy: the name of the policy that suggested it.
  candidate: int32 `[G]`; empty for the whole host, which is not placed.
  measurement: the last Measurement of it; of the best single device all
    steps that it ran as the reference in the final comparison.
  ratio: paired ratio to the best single device; None when either did not run.
  interval: its bootstrap interval (low, high); None with too few pairs, and
    for the best single device itself.
  remeasured: whether `measurement` is the fresh one at the end of the search.

`SearchResult`:
  chosen: the Row of the answer; also in `rows`.
  rows: what was compared: singles, baselines, finalists; no two of the same
    candidate.
  reference_label: of the best single device; '' when no single device ran.
  improved: the answer is not a single device, and better than the best one.
  trials: every trial, in order.
  problem: the PlacementProblem.
  whole_host: the Row of one process with one device on all cores, paired with
    the best single device as the others are; None where there is none.
  elapsed_seconds: over all resumed runs.
  interrupted: whether the user stopped it, so that nothing was re-measured.
  confidence: of all intervals, 0.95.
  predicted_seconds: the step of the answer in the model, the problem's costs
    as the simulator runs them; None where it does not run there, or nobody
    asked.
  bound: the Bound of the problem in the model; None where nobody asked.
  notes: sentences for the user.
"""

import dataclasses

import numpy as np

from placer.core import bound as bound_lib
from placer.core import measurement as measurement_lib
from placer.core import placement as placement_lib
from placer.core import placement_problem
from placer.core import trial as trial_lib


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
  """One placement of the final comparison; see the module docstring."""

  label: str
  policy: str
  candidate: np.ndarray
  measurement: measurement_lib.Measurement
  ratio: float | None = None
  interval: tuple[float, float] | None = None
  remeasured: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class SearchResult:
  """What a search found; see the module docstring."""

  chosen: Row
  rows: tuple[Row, ...]
  reference_label: str
  improved: bool
  trials: tuple[trial_lib.Trial, ...]
  problem: placement_problem.PlacementProblem
  whole_host: Row | None = None
  elapsed_seconds: float = 0.0
  interrupted: bool = False
  confidence: float = 0.95
  predicted_seconds: float | None = None
  bound: bound_lib.Bound | None = None
  notes: tuple[str, ...] = ()

  @property
  def placement(self) -> placement_lib.Placement:
    """The Placement to write: op path -> device name."""
    return dataclasses.replace(
      self.problem.placement(self.chosen.candidate),
      graph_fingerprint=self.problem.graph.fingerprint,
      devices_spec=self.problem.devices.spec,
    )
