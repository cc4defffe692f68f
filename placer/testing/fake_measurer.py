"""FakeMeasurer: a Measurer in memory, with noise, failures and a clock.

Its step time is a function that the test gives, or `parallel_seconds`: the
busiest device's flops at 1e11 a second, plus 1 ms for each tensor that crosses
devices. Noise is drift (shared by a pair) times jitter (of each step).
"""

from collections.abc import Callable, Sequence

import numpy as np

from placer.core import measurement
from placer.core import placement_problem
from placer.measurers import base

StepModel = Callable[[placement_problem.PlacementProblem, np.ndarray], float]
Failure = Callable[[np.ndarray], tuple[measurement.Status, str] | None]


class FakeClock:
  """A clock that tests move by hand; seconds."""

  def __init__(self) -> None:
    self.now = 0.0

  def __call__(self) -> float:
    return self.now


def parallel_seconds(
  problem: placement_problem.PlacementProblem, candidate: np.ndarray
) -> float:
  """The step time of the module docstring's model, in seconds."""
  flops = np.bincount(
    candidate[problem.op_group],
    problem.graph.flops,
    minlength=len(problem.devices),
  )
  source, target, _ = problem.group_edges
  crossing = int((candidate[source] != candidate[target]).sum())
  return 1e-6 + flops.max() / 1e11 + 1e-3 * crossing


class FakeMeasurer(base.Measurer):
  """Measures without running anything; see the module docstring.

  Attributes:
    calls: every candidate measured, as a tuple of devices, in order.
    closed: whether `close` was called.
  """

  def __init__(
    self,
    step_seconds: StepModel = parallel_seconds,
    *,
    noise: float = 0.02,
    drift: float = 0.05,
    failure: Failure = lambda candidate: None,
    clock: FakeClock | None = None,
    seconds_per_candidate: float = 5.0,
    on_measure: Callable[[int], None] = lambda count: None,
    seed: int = 0,
  ) -> None:
    """Makes a measurer.

    Args:
      step_seconds: (problem, candidate int32 `[G]`) -> the true step time.
      noise: standard deviation of the log of each step's jitter.
      drift: the same of what a step shares with its pair.
      failure: candidate -> (status, reason) for one that does not run.
      clock: advanced by `seconds_per_candidate` each.
      seconds_per_candidate: see `clock`.
      on_measure: called before each candidate with the number so far; may
        raise or kill.
      seed: of the noise.
    """
    self.calls: list[tuple[int, ...]] = []
    self.closed = False
    self._step_seconds = step_seconds
    self._noise = noise
    self._drift = drift
    self._failure = failure
    self._clock = clock
    self._seconds = seconds_per_candidate
    self._on_measure = on_measure
    self._rng = np.random.default_rng(seed)

  def measure(
    self,
    problem: placement_problem.PlacementProblem,
    candidates: np.ndarray,
    *,
    reference: np.ndarray | None = None,
    steps: int | None = None,
    give_up_ratio: float | None = None,
  ) -> Sequence[measurement.Measurement]:
    measured = []
    for candidate in candidates:
      problem.check(candidate)
      self._on_measure(len(self.calls))
      self.calls.append(tuple(int(d) for d in candidate))
      if self._clock is not None:
        self._clock.now += self._seconds
      measured.append(
        self._one(problem, candidate, reference, steps or 8, give_up_ratio)
      )
    return measured

  def close(self) -> None:
    self.closed = True

  def _one(self, problem, candidate, reference, steps, give_up_ratio):
    failed = self._failure(candidate)
    if failed is not None:
      return measurement.Measurement(failed[0], failed[1])
    seconds = self._step_seconds(problem, candidate)
    if reference is None:
      other = None
    else:
      other = self._step_seconds(problem, reference)
      if give_up_ratio is not None and seconds > give_up_ratio * other:
        steps = min(steps, 3)
    drift = np.exp(self._rng.normal(0, self._drift, steps))
    jitter = np.exp(self._rng.normal(0, self._noise, (2, steps)))
    return measurement.Measurement(
      measurement.Status.OK,
      step_times_seconds=tuple(seconds * drift * jitter[0]),
      reference_times_seconds=(
        () if other is None else tuple(other * drift * jitter[1])
      ),
      setup_seconds=self._seconds / 2,
      peak_memory_bytes={
        name: 1_000_000 * (1 + int((candidate == d).sum()))
        for d, name in enumerate(problem.devices.names)
      },
      partition_hash=np.asarray(candidate, np.int32).tobytes().hex(),
    )
