"""SearchResults made by hand, for tests of reports."""

import dataclasses
from typing import Any

import numpy as np

from placer.core import measurement
from placer.core import placement_problem
from placer.core import search_result
from placer.core import trial
from placer.testing import problems


def measured(
  seconds: float, *, steps: int = 20, peak_bytes: int = 300_000_000
) -> measurement.Measurement:
  """A Measurement with steps around a median, 5 % to either side."""
  return measurement.Measurement(
    measurement.Status.OK,
    step_times_seconds=tuple(seconds * np.linspace(0.95, 1.05, steps)),
    reference_times_seconds=(1.0,) * steps,
    peak_memory_bytes={'/job:worker/replica:0/task:0/device:CPU:0': peak_bytes},
  )


def whole_host(taken: measurement.Measurement) -> search_result.Row:
  """The row of the whole host, against 0.853 s of the best single device."""
  ratio = taken.step_time_seconds / 0.853 if taken.ok else None
  return search_result.Row(
    'whole host as one device',
    '',
    np.zeros(0, np.int32),
    taken,
    ratio,
    (ratio * 0.98, ratio * 1.02) if taken.ok else None,
    True,
  )


def result(
  problem: placement_problem.PlacementProblem | None = None, **changes: Any
) -> search_result.SearchResult:
  """The result of a search like Inception-V3's on two workers.

  Args:
    problem: what was placed; None for `modules` of 28 ops on two workers.
    **changes: fields of SearchResult to replace.

  Returns:
    A SearchResult in which a split by hill climbing was chosen.
  """
  problem = problem or problems.modules(3)
  groups = problem.num_groups
  half = (np.arange(groups) % 2).astype(np.int32)
  stem = 'single_device /job:worker/task:'
  rows = (
    search_result.Row(
      f'{stem}0',
      'single_device',
      np.zeros(groups, np.int32),
      measured(0.853),
      1.0,
    ),
    search_result.Row(
      f'{stem}1',
      'single_device',
      np.ones(groups, np.int32),
      measured(0.861),
      1.009,
      (0.988, 1.021),
      True,
    ),
    search_result.Row(
      'expert layers', 'expert', np.sort(half), measured(0.872), 1.023
    ),
    search_result.Row(
      'expert branches',
      'expert',
      half,
      measurement.Measurement(
        measurement.Status.OUT_OF_MEMORY, 'task:1 has 2 GB'
      ),
    ),
    search_result.Row(
      'hill_climb 7',
      'hill_climb',
      1 - half,
      measured(0.634),
      0.746,
      (0.731, 0.764),
      True,
    ),
  )
  made = search_result.SearchResult(
    chosen=rows[-1],
    rows=rows,
    reference_label=rows[0].label,
    improved=True,
    trials=tuple(
      trial.Trial(
        i, row.policy, row.candidate, row.measurement, 10.0 * (i + 1), row.label
      )
      for i, row in enumerate(rows)
    ),
    problem=problem,
    whole_host=whole_host(measured(0.441)),
    elapsed_seconds=171.2,
    notes=('Three ops have no known shape; 1 was assumed.',),
  )
  return dataclasses.replace(made, **changes)
