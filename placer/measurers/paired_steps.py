"""Timed steps of a candidate, each with one of the reference after it.

Host and network drift, so that only steps that were taken in turn can be
compared (DESIGN §3.19). A reference that does not run is not the candidate's
fault: the candidate is then timed alone.
"""

import dataclasses
import statistics
from typing import Any

import numpy as np

from placer.core import placement_problem
from placer.measurers import lane_pool
from placer.measurers.processes import lane as lane_lib

_STEPS_TO_GIVE_UP = 2


@dataclasses.dataclass(frozen=True, eq=False)
class Pairing:
  """What a candidate is timed against.

  Attributes:
    problem: what candidate and reference place.
    reference: int32 `[G]`, or None to time the candidate alone.
    steps: how many of each.
    give_up_ratio: stop early where the candidate's median is more than this
      many of the reference's; None never does.
  """

  problem: placement_problem.PlacementProblem
  reference: np.ndarray | None
  steps: int
  give_up_ratio: float | None


def run(
  lanes: lane_pool.LanePool, role: str, pairing: Pairing
) -> tuple[tuple[float, ...], tuple[float, ...], dict[str, Any]]:
  """Times a candidate that is loaded.

  Args:
    lanes: run it.
    role: the lane that has it.
    pairing: what it is timed against.

  Returns:
    (its seconds, the reference's seconds, what was wrong with the reference).

  Raises:
    FailedError: the candidate does not run.
  """
  if pairing.reference is None:
    return lanes.call(role, 'step', count=pairing.steps), (), {}
  for _ in range(2):
    try:
      return *_interleaved(lanes, role, pairing), {}
    except _ReferenceError as error:
      trouble = {'reference_failure': str(error)}
      if not error.lost:
        break  # a lane that was killed may do better; this one won't
  return lanes.call(role, 'step', count=pairing.steps), (), trouble


def _interleaved(
  lanes: lane_pool.LanePool, role: str, pairing: Pairing
) -> tuple[tuple[float, ...], tuple[float, ...]]:
  _reference(lanes.load, 'reference', pairing.problem, pairing.reference)
  times: list[float] = []
  others: list[float] = []
  for i in range(pairing.steps):
    times += lanes.call(role, 'step', count=1)
    others += _reference(lanes.call, 'reference', 'step', count=1)
    if pairing.give_up_ratio is not None and i + 1 >= _STEPS_TO_GIVE_UP:
      slow = statistics.median(times) / statistics.median(others)
      if slow > pairing.give_up_ratio:
        break
  return tuple(times), tuple(others)


def _reference(method: Any, *arguments: Any, **named: Any) -> Any:
  try:
    return method(*arguments, **named)
  except lane_lib.FailedError as error:
    raise _ReferenceError(error) from error


class _ReferenceError(Exception):
  """The reference did not run: not the candidate's fault."""

  def __init__(self, error: lane_lib.FailedError) -> None:
    super().__init__(error.failure.reason)
    self.lost = isinstance(error, lane_lib.LostError)
