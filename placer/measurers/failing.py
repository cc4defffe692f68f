"""FailingMeasurer: a wrapper that makes some candidates fail, for tests.

    measurer = FailingMeasurer(inner, failures={3: Status.DEVICE_LOST})

The candidate with count 3, over all calls and from 0, gets a Measurement with
that status and is not measured; with `rate`, others fail at random.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.measurers import base


class FailingMeasurer(base.Measurer):
  """Makes some candidates fail; see the module docstring.

  Attributes:
    count: candidates seen so far.
  """

  def __init__(
    self,
    measurer: base.Measurer,
    *,
    failures: Mapping[int, measurement_lib.Status] | None = None,
    rate: float = 0.0,
    status: measurement_lib.Status = measurement_lib.Status.CRASHED,
    seed: int = 0,
  ) -> None:
    """Wraps a measurer.

    Args:
      measurer: measures the others; closed by `close`.
      failures: {count: status} of the candidates that fail.
      rate: probability that any other candidate fails.
      status: of those.
      seed: decides which.
    """
    self.count = 0
    self._measurer = measurer
    self._failures = dict(failures or {})
    self._rate = rate
    self._status = status
    self._rng = np.random.default_rng(seed)

  def measure(
    self,
    problem: placement_problem.PlacementProblem,
    candidates: np.ndarray,
    *,
    reference: np.ndarray | None = None,
    steps: int | None = None,
    give_up_ratio: float | None = None,
  ) -> Sequence[measurement_lib.Measurement]:
    """See `Measurer.measure`."""
    results = []
    for candidate in candidates:
      problem.check(candidate)
      status = self._next_status()
      if status is not None:
        results.append(
          measurement_lib.Measurement(status, 'Injected by FailingMeasurer.')
        )
        continue
      results.extend(
        self._measurer.measure(
          problem,
          np.asarray(candidate)[None],
          reference=reference,
          steps=steps,
          give_up_ratio=give_up_ratio,
        )
      )
    return results

  def close(self) -> None:
    """Closes the wrapped measurer."""
    self._measurer.close()

  def _next_status(self) -> measurement_lib.Status | None:
    status = self._failures.get(self.count)
    if status is None and self._rng.random() < self._rate:
      status = self._status
    self.count += 1
    return status
