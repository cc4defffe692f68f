"""Residuals: what a cost model errs by, learned from measured placements.

    residuals = Residuals(problem, costs)
    known = residuals.known(candidates, predicted, measured)
    mean, deviation = known.expect(others, their_predicted_seconds)

The logarithm of measured over predicted seconds is a Gaussian process over
placements with two parts:

- Two placements have about the same error when most of the work is at the same
  place in both. So a split that was measured is predicted as measured, its
  neighbours nearly so, and what is far from all that was measured has the
  model's own error.
- Devices of one host share its memory and caches, and ops are profiled alone:
  the more of the work is done by several devices at once, the slower it is, by
  a rate that the measured placements tell. (Two cores of a shared VM,
  2026-12-01: copies of 80 MB take 1.9 times as long when both cores copy,
  products with 64 MB of weights 1.05 times.)

Letters: `B` candidates, `G` groups, `D` devices, `K` measured candidates.
"""

import dataclasses

import numpy as np

from placer.core import cost_model
from placer.core import placement_problem

# What the model errs by, how much of the work must be elsewhere for errors to
# be different ones, how much slower work at once may be, and what a measurement
# errs by.
_MODEL_ERROR = 0.06
_REACH = 0.15
_CONTENTION = 0.15
_NOISE = 0.015
# A simulated step is what the simulator says.
_EXACT = 1e-6


class Residuals:
  """The Gaussian process before anything is measured."""

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    costs: cost_model.CostModel,
  ) -> None:
    """Prepares.

    Args:
      problem: G groups on D devices.
      costs: of its graph and devices.
    """
    exact = problem.devices.is_simulated
    self._model_error = _EXACT if exact else _MODEL_ERROR
    self._contention = 0.0 if exact else _CONTENTION
    self._noise = _EXACT if exact else _NOISE
    work = costs.op_seconds * costs.op_runs[:, np.newaxis]
    work = np.where(np.isfinite(work), work, 0.0)
    self._work = np.zeros((problem.num_groups, costs.num_devices))
    np.add.at(self._work, problem.op_group, work)
    least = self._work.min(axis=1)
    self._shares = least / max(least.sum(), 1e-30)

  def known(
    self, candidates: np.ndarray, predicted: np.ndarray, measured: np.ndarray
  ) -> 'Known':
    """What is known when some candidates were measured.

    Args:
      candidates: int32 `[K, G]`; none is fine.
      predicted: float `[K]`, seconds by the model.
      measured: float `[K]`, seconds.
    """
    overlaps = self._overlaps(candidates, predicted)
    kernel = self._kernel(candidates, overlaps, candidates, overlaps)
    kernel += self._noise**2 * np.eye(len(candidates))
    return Known(
      self, candidates, overlaps, kernel, np.log(measured / predicted)
    )

  def _overlaps(self, candidates, seconds) -> np.ndarray:
    """`[B]`: for how much of the step another device works, too; 0 … D-1."""
    groups = np.arange(candidates.shape[1])
    work = self._work[groups, candidates].sum(axis=1)
    return np.maximum(work / np.maximum(seconds, 1e-30) - 1, 0.0)

  def _kernel(self, rows, row_overlaps, columns, column_overlaps):
    differs = rows[:, np.newaxis, :] != columns[np.newaxis, :, :]
    near = np.exp(-(differs @ self._shares) / _REACH)
    both = np.outer(row_overlaps, column_overlaps)
    return self._model_error**2 * near + self._contention**2 * both

  def _variances(self, overlaps: np.ndarray) -> np.ndarray:
    return self._model_error**2 + (self._contention * overlaps) ** 2


@dataclasses.dataclass(frozen=True, eq=False)
class Known:
  """The Gaussian process given what was measured."""

  _prior: Residuals
  _candidates: np.ndarray
  _overlaps: np.ndarray
  _kernel: np.ndarray
  _errors: np.ndarray

  @property
  def misfit(self) -> float:
    """-2 log likelihood of what was measured, up to a constant."""
    _, log_determinant = np.linalg.slogdet(self._kernel)
    return float(self._errors @ self._solved + log_determinant)

  def expect(
    self, candidates: np.ndarray, predicted: np.ndarray
  ) -> tuple[np.ndarray, np.ndarray]:
    """The residuals of candidates.

    Args:
      candidates: int32 `[B, G]`, legal.
      predicted: float `[B]`, seconds by the model; inf is fine.

    Returns:
      (expected value float64 `[B]`, standard deviation float64 `[B]`), both of
      the logarithm of seconds.
    """
    prior = self._prior
    overlaps = prior._overlaps(candidates, predicted)
    variance = prior._variances(overlaps)
    if not len(self._candidates):
      return np.zeros(len(candidates)), np.sqrt(variance)
    cross = prior._kernel(
      candidates, overlaps, self._candidates, self._overlaps
    )
    explained = (cross * np.linalg.solve(self._kernel, cross.T).T).sum(axis=1)
    deviation = np.sqrt(np.maximum(variance - explained, 0.0))
    return cross @ self._solved, deviation

  @property
  def _solved(self) -> np.ndarray:
    return np.linalg.solve(self._kernel, self._errors)
