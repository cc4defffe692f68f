"""CachingMeasurer: a candidate is measured once.

Wraps a Measurer. An equal candidate of an equal problem, timed against an
equal reference, gets the stored Measurement; one that failed for a reason
that may pass (a crash, a lost device) is tried again.

It also tells which candidates are the same program: TensorFlow's optimiser
may remove what two placements differ in, and then their partition hashes are
equal (DESIGN §3.2). Of such a Measurement, details['duplicate_of'] is the
first candidate with that hash, a list of G device indices.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.measurers import base

_MAY_PASS = (
  measurement_lib.Status.CRASHED,
  measurement_lib.Status.DEVICE_LOST,
)
_Key = tuple[str, bytes, bytes | None]


class CachingMeasurer(base.Measurer):
  """Measures a candidate once; see the module docstring.

  Attributes:
    hits: how many Measurements came from the store.
  """

  def __init__(self, measurer: base.Measurer) -> None:
    """Wraps a measurer.

    Args:
      measurer: measures what is not stored; closed by `close`.
    """
    self.hits = 0
    self._measurer = measurer
    self._stored: dict[_Key, measurement_lib.Measurement] = {}
    self._first: dict[tuple[str, str], np.ndarray] = {}

  def measure(
    self,
    problem: placement_problem.PlacementProblem,
    candidates: np.ndarray,
    *,
    reference: np.ndarray | None = None,
    steps: int | None = None,
    give_up_ratio: float | None = None,
  ) -> Sequence[measurement_lib.Measurement]:
    """See `Measurer.measure`; `steps` counts for new candidates only."""
    candidates = [np.asarray(candidate) for candidate in candidates]
    for candidate in candidates:
      problem.check(candidate)
    keys = [_key(problem, candidate, reference) for candidate in candidates]
    new: dict[_Key, np.ndarray] = {}
    for key, candidate in zip(keys, candidates, strict=True):
      if key not in self._stored:
        new.setdefault(key, candidate)
    self.hits += len(keys) - len(new)
    fresh: dict[_Key, measurement_lib.Measurement] = {}
    if new:
      measured = self._measurer.measure(
        problem,
        np.stack(list(new.values())),
        reference=reference,
        steps=steps,
        give_up_ratio=give_up_ratio,
      )
      for (key, candidate), each in zip(new.items(), measured, strict=True):
        fresh[key] = self._note_hash(problem, candidate, each)
    self._stored.update(
      {k: m for k, m in fresh.items() if m.status not in _MAY_PASS}
    )
    return [fresh.get(key) or self._stored[key] for key in keys]

  def first_with_hash(
    self,
    problem: placement_problem.PlacementProblem,
    partition_hash: str,
  ) -> np.ndarray | None:
    """The first measured candidate that was this program.

    Args:
      problem: what was placed.
      partition_hash: of a Measurement.

    Returns:
      int32 `[G]`, or None if no candidate had that hash.
    """
    return self._first.get((problem.fingerprint, partition_hash))

  def close(self) -> None:
    """Closes the wrapped measurer."""
    self._measurer.close()

  def _note_hash(
    self,
    problem: placement_problem.PlacementProblem,
    candidate: np.ndarray,
    measurement: measurement_lib.Measurement,
  ) -> measurement_lib.Measurement:
    if not measurement.partition_hash:
      return measurement
    key = problem.fingerprint, measurement.partition_hash
    first = self._first.setdefault(key, np.array(candidate, np.int32))
    if np.array_equal(first, candidate):
      return measurement
    details = dict(measurement.details) | {
      'duplicate_of': [int(device) for device in first]
    }
    return dataclasses.replace(measurement, details=details)


def _key(
  problem: placement_problem.PlacementProblem,
  candidate: np.ndarray,
  reference: np.ndarray | None,
) -> _Key:
  other = None
  if reference is not None:
    other = np.asarray(reference, np.int32).tobytes()
  return problem.fingerprint, np.asarray(candidate, np.int32).tobytes(), other
