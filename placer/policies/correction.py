"""Corrects a cost model by what was measured.

    corrected = correction.fit(problem, costs, trials)
    corrected.costs                      the CostModel, with fitted factors
    corrected.predict(candidates)        seconds, and how sure that is

Two steps, since a dozen noisy trials tell only so much:

1. Factors. The time of each single device fixes the factor of its ops. Three
   factors of all links (latency, seconds a byte, seconds a message, at the ends
   or on the wire) are those that make the measured splits likeliest, among
   powers of `_STEP`, with a prior that keeps them at 1 if all fit alike.
2. Residuals. What is left is a Gaussian process over placements
   (`residuals.py`), which also says how likely the splits are in 1: an error
   that all placements near each other share, or that comes from devices working
   at once, says little about the links.

Letters: `B` candidates, `G` groups, `D` devices, `K` trials.
"""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from placer.core import cost_model
from placer.core import link_costs
from placer.core import placement_problem
from placer.core import trial as trial_lib
from placer.policies import calibration
from placer.policies import residuals
from placer.simulation import simulator as simulator_lib

_STEP = 2.0
_EXPONENTS = (-2, -1, 0, 1, 2, 3)
# Ops and tensors to be simulated for the factors; 1e7 take 1.5 s of a core.
_VISITS = 1e7
_LEAST_SPLITS = 4
# What each factor of 2 on the links costs, in -2 log likelihoods. Of 1, 2, 4, 8
# this one, fitted to 8 of 41 measured splits of rnnlm, predicts the others
# best; for 43 of Inception-V3 all are alike (2 cores of AMD EPYC, 2026-12-07).
_PRIOR = 4.0


@dataclasses.dataclass(frozen=True)
class LinkFactors:
  """Factors on what links cost.

  Attributes:
    latency: on latencies.
    transfer: on the time that bytes take, on the wire and at the ends.
    load: on the time that a message takes, on the wire and at the ends.
  """

  latency: float = 1.0
  transfer: float = 1.0
  load: float = 1.0

  def of(self, links: link_costs.LinkCosts) -> link_costs.LinkCosts:
    """The links with these factors on them.

    Args:
      links: LinkCosts of D devices.

    Returns:
      LinkCosts.
    """
    return dataclasses.replace(
      links,
      latency_seconds=links.latency_seconds * self.latency,
      bytes_per_second=links.bytes_per_second / self.transfer,
      send_seconds_per_byte=links.send_seconds_per_byte * self.transfer,
      receive_seconds_per_byte=links.receive_seconds_per_byte * self.transfer,
      message_seconds=links.message_seconds * self.load,
      send_seconds_per_message=links.send_seconds_per_message * self.load,
      receive_seconds_per_message=links.receive_seconds_per_message * self.load,
    )


class Corrected:
  """A cost model and what was measured; see the module docstring.

  Attributes:
    costs: the CostModel with the fitted factors.
    links: the LinkFactors.
  """

  def __init__(
    self,
    simulator: simulator_lib.Simulator,
    costs: cost_model.CostModel,
    links: LinkFactors,
    known: residuals.Known,
  ) -> None:
    """Keeps them.

    Args:
      simulator: of the problem, with `costs`.
      costs: the corrected CostModel.
      links: the factors in it.
      known: the residuals of it.
    """
    self.costs, self.links = costs, links
    self._simulator, self._known = simulator, known

  def predict(self, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predicts step times.

    Args:
      candidates: int32 `[B, G]`, legal.

    Returns:
      (seconds float64 `[B]`, NaN where it does not run; the standard deviation
      of their logarithm, float64 `[B]`).
    """
    batch = self._simulator.simulate(candidates)
    mean, deviation = self._known.expect(candidates, batch.unbounded_seconds)
    return batch.step_time_seconds * np.exp(mean), deviation

  def residuals(
    self, candidates: np.ndarray, seconds: np.ndarray
  ) -> tuple[np.ndarray, np.ndarray]:
    """What the logarithm of a step time is off by.

    Args:
      candidates: int32 `[B, G]`, legal.
      seconds: float `[B]`, their steps by `costs`.

    Returns:
      (expected value float64 `[B]`, standard deviation float64 `[B]`).
    """
    return self._known.expect(candidates, seconds)


def fit(
  problem: placement_problem.PlacementProblem,
  costs: cost_model.CostModel,
  trials: Sequence[trial_lib.Trial],
  simulator: simulator_lib.Simulator | None = None,
) -> Corrected:
  """Fits a cost model to trials.

  Args:
    problem: G groups on D devices.
    costs: of the problem, not corrected.
    trials: of one search, any order; those that failed are left out.
    simulator: of the problem, if there is one already; saves time.

  Returns:
    The Corrected.
  """
  simulator = simulator or simulator_lib.Simulator(problem, costs)
  times = calibration.step_seconds(trials)
  known = np.array([trials[i].candidate for i in times], np.int32)
  known = known.reshape(len(times), problem.num_groups)
  seconds = np.array(list(times.values()))
  costs = _with_ops(problem, costs, simulator, known, seconds)
  simulator = simulator.with_costs(costs)
  prior = residuals.Residuals(problem, costs)
  splits = (known != known[:, :1]).any(axis=1)
  links = _link_factors(costs, simulator, prior, known[splits], seconds[splits])
  costs = _with_links(costs, links)
  simulator = simulator.with_costs(costs)
  predicted = simulator.simulate(known).unbounded_seconds
  return Corrected(
    simulator, costs, links, prior.known(known, predicted, seconds)
  )


def _with_ops(problem, costs, simulator, known, seconds):
  """The costs with a factor on the ops of each device."""
  factors = np.full(costs.num_devices, np.nan)
  if len(known):
    predicted = simulator.simulate(known).unbounded_seconds
    for row, ratio in zip(known, seconds / predicted, strict=True):
      device = _main_device(problem, costs, row)
      if device is not None:
        factors[device] = ratio
  if np.isnan(factors).all():
    return costs
  factors[np.isnan(factors)] = np.nanmean(factors)
  return costs.scaled(compute=factors)


def _main_device(problem, costs, candidate) -> int | None:
  """The device that does all work that another could do, or None."""
  movable = problem.allowed.sum(axis=1) > 1
  used = np.unique(candidate[movable] if movable.any() else candidate)
  return int(used[0]) if len(used) == 1 else None


def _with_links(costs, factors: LinkFactors) -> cost_model.CostModel:
  return dataclasses.replace(
    costs,
    links=factors.of(costs.links),
    host_links=factors.of(costs.host_links),
  )


def _link_factors(costs, simulator, prior, known, seconds) -> LinkFactors:
  """The factors of the grid that make the splits likeliest."""
  if not len(known):
    return LinkFactors()
  grid = [
    LinkFactors(*(_STEP**exponent for exponent in exponents))
    for exponents in itertools.product(_EXPONENTS, repeat=3)
  ]
  # Of many trials of a large graph some will do, the slow and the fast ones.
  size = sum(costs.op_seconds.shape) + len(costs.tensor_sends)
  most = max(int(_VISITS / (len(grid) * size)), _LEAST_SPLITS)
  order = np.argsort(seconds, kind='stable')
  some = order[
    np.linspace(0, len(order) - 1, min(most, len(order))).astype(int)
  ]

  def misfit(factors: LinkFactors) -> float:
    changed = simulator.with_costs(_with_links(costs, factors))
    predicted = changed.simulate(known[some]).unbounded_seconds
    away = np.log2(dataclasses.astuple(factors))
    fitted = prior.known(known[some], predicted, seconds[some])
    return fitted.misfit + _PRIOR * np.abs(away).sum()

  # All of them: factors make up for each other, and a descent ends too early.
  return min(grid, key=misfit)
