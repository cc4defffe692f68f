"""Measurer: how long does a step take under each of these placements?

The loop that calls it:

    with measurer:
      for candidates in ...:                        # int32 [B, G]
        measurements = measurer.measure(problem, candidates)   # B of them

A candidate that cannot run gives a Measurement with a status; `measure`
raises only for faults of the caller. Between two calls nothing about
`problem` may change. `close` ends every process that was started; a Measurer
is a context manager that calls it.
"""

import abc
import types
from collections.abc import Sequence

import numpy as np

from placer.core import measurement as measurement_lib
from placer.core import placement_problem


class Measurer(abc.ABC):
  """Runs candidates; see the module docstring for the calling loop."""

  @abc.abstractmethod
  def measure(
    self,
    problem: placement_problem.PlacementProblem,
    candidates: np.ndarray,
    *,
    reference: np.ndarray | None = None,
    steps: int | None = None,
    give_up_ratio: float | None = None,
  ) -> Sequence[measurement_lib.Measurement]:
    """Measures B candidates.

    Args:
      problem: what the candidates place.
      candidates: int32 `[B, G]`, each legal for `problem`.
      reference: int32 `[G]`, a candidate whose steps are interleaved with
        those of each candidate (A B A B), or None for none.
      steps: timed steps of each candidate; None for the measurer's default.
      give_up_ratio: stop timing early when a candidate's first timed steps are
        slower than this many times the reference's; its Measurement then has
        fewer steps. None never gives up. Needs a reference.

    Returns:
      B Measurements, in the order of the candidates.

    Raises:
      ValueError: a candidate is not legal for `problem`.
    """

  def close(self) -> None:
    """Ends every process that was started; safe to call twice."""

  def __enter__(self) -> 'Measurer':
    return self

  def __exit__(
    self,
    exc_type: type[BaseException] | None,
    exc: BaseException | None,
    traceback: types.TracebackType | None,
  ) -> None:
    self.close()
