"""SimulationMeasurer: answers from the compiled simulator; nothing is run.

    with SimulationMeasurer() as measurer:
      measurements = measurer.measure(problem, candidates)

The step time is what `placer/simulation/simulator.py` finds with the problem's
`costs`, which must be there. It has no noise: all steps of a Measurement are
equal, as many as were asked for, and so are those of the reference. Peaks are
of every device. A candidate that takes more memory than a device has is
`out_of_memory`, with the device and the bytes in the reason; an op with an
infinite cost on its device is `unsupported_op`.

A batch of candidates is simulated at once, on all cores; that is the way to
thousands of trials a second. Only the Simulator of the last problem is kept.
"""

from collections.abc import Sequence

import numpy as np

from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.measurers import base
from placer.simulation import simulation_batch
from placer.simulation import simulator as simulator_lib

# A second step would be the same.
_DEFAULT_STEPS = 1
_STEPS_BEFORE_GIVING_UP = 1
# A graph of no cost takes no time, but a measured step does.
_LEAST_SECONDS = 1e-12


class SimulationMeasurer(base.Measurer):
  """Measures in simulation; see the module docstring."""

  def __init__(self, *, threads: int | None = None) -> None:
    """Makes a measurer.

    Args:
      threads: of the simulator; None takes all usable cores.
    """
    self._threads = threads
    self._problem: placement_problem.PlacementProblem | None = None
    self._simulator: simulator_lib.Simulator | None = None

  def measure(
    self,
    problem: placement_problem.PlacementProblem,
    candidates: np.ndarray,
    *,
    reference: np.ndarray | None = None,
    steps: int | None = None,
    give_up_ratio: float | None = None,
  ) -> Sequence[measurement_lib.Measurement]:
    """See `Measurer.measure`.

    Args:
      problem: with `costs`.
      candidates: int32 `[B, G]`, each legal for `problem`.
      reference: int32 `[G]` or None; simulated once for all.
      steps: how many equal steps to tell; None for one.
      give_up_ratio: slower candidates have a single step.

    Returns:
      B Measurements.

    Raises:
      ValueError: a candidate is not legal, or the problem has no costs.
    """
    candidates = np.asarray(candidates, np.int32)
    for candidate in candidates:
      problem.check(candidate)
    batch = self._of(problem).simulate(candidates)
    base_seconds = None
    if reference is not None:
      problem.check(reference)
      found = self._of(problem).simulate(np.asarray(reference)[np.newaxis])
      # A reference that does not run has no steps to compare with.
      if found.feasible[0]:
        base_seconds = _least(found.step_time_seconds[0])
    return [
      _measurement(
        batch, i, problem.devices.names, base_seconds, steps, give_up_ratio
      )
      for i in range(len(batch))
    ]

  def close(self) -> None:
    """Frees the simulator's memory; the measurer may be used again."""
    self._problem = self._simulator = None

  def _of(
    self, problem: placement_problem.PlacementProblem
  ) -> simulator_lib.Simulator:
    if problem.costs is None:
      raise ValueError('A problem without costs cannot be simulated.')
    if self._problem is not problem or self._simulator is None:
      self._simulator = simulator_lib.Simulator(
        problem, problem.costs, threads=self._threads
      )
      self._problem = problem
    return self._simulator


def _measurement(
  batch: simulation_batch.SimulationBatch,
  i: int,
  names: tuple[str, ...],
  base_seconds: float | None,
  steps: int | None,
  give_up_ratio: float | None,
) -> measurement_lib.Measurement:
  """The Measurement of candidate `i`."""
  status = simulation_batch.STATUSES[batch.status[i]]
  peaks = dict(zip(names, batch.peak_bytes[i].tolist(), strict=True))
  if status is not measurement_lib.Status.OK:
    return measurement_lib.Measurement(
      status,
      simulation_batch.reason(
        status, batch.peak_bytes[i], batch.memory_bytes, names
      ),
      peak_memory_bytes=peaks,
    )
  seconds = _least(batch.unbounded_seconds[i])
  count = steps or _DEFAULT_STEPS
  if give_up_ratio is not None and base_seconds is not None:
    if seconds > give_up_ratio * base_seconds:
      count = min(count, _STEPS_BEFORE_GIVING_UP)
  return measurement_lib.Measurement(
    status,
    step_times_seconds=(seconds,) * count,
    reference_times_seconds=(
      () if base_seconds is None else (base_seconds,) * count
    ),
    peak_memory_bytes=peaks,
  )


def _least(seconds: float) -> float:
  return max(float(seconds), _LEAST_SECONDS)
