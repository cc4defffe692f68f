"""PlanningModel: predicts the steps of candidates, quickly and then exactly.

A search scores candidates by the thousand on the coarse problem (an op a
group, `simulation/coarse.py`); the few that it ends with are predicted op by
op, and that order counts.

Letters: `B` candidates, `G` groups, `D` devices.

Memory: a placement that does not fit has no step time. To find the way to one
that fits, `scores` adds the part by which limits are exceeded to the step it
would take without limits; such scores stay inside a search.

`Prediction`: what the model says of one candidate.
  candidate: int32 `[G]`.
  step_time_seconds: float, or None where it does not run.
  status: a Status.
  reason: one sentence when the status is not ok, else ''.
  score: of the coarse problem.
"""

import dataclasses
import functools
from collections.abc import Iterable

import numpy as np

from placer.core import cost_model
from placer.core import measurement
from placer.core import placement_problem
from placer.policies import planning_costs
from placer.policies import planning_graph
from placer.simulation import coarse
from placer.simulation import simulation_batch
from placer.simulation import simulator

# Candidates that are predicted op by op, in the order of their scores.
_MOST_PREDICTED = 32


@dataclasses.dataclass(frozen=True, eq=False)
class Prediction:
  """What the model says of a candidate; see the module docstring."""

  candidate: np.ndarray
  step_time_seconds: float | None
  status: measurement.Status
  reason: str
  score: float


class PlanningModel:
  """Predicts the steps of one problem; see the module docstring.

  Attributes:
    problem: G groups on D devices.
    costs: what is planned on.
    coarse: the CoarseProblem.
    graph: the PlanningGraph of the coarse problem.
  """

  def __init__(self, problem: placement_problem.PlacementProblem) -> None:
    """Prepares the simulators.

    Args:
      problem: G groups on D devices; its `costs` may be None.
    """
    self.problem = problem
    self.costs = planning_costs.of_problem(problem)
    self.coarse = coarse.coarse_problem(problem, self.costs)
    self.graph = planning_graph.build(
      self.coarse.problem, self.coarse.cost_model
    )
    self._coarse = simulator.Simulator(
      self.coarse.problem, self.coarse.cost_model
    )
    # What a placement that does not fit is worse by: a step in which every op
    # runs where it is slowest, since all that fits may be as slow as that.
    hold = self.graph.hold_seconds
    can = self.graph.op_allowed & np.isfinite(hold)
    slowest = np.where(can, hold, 0.0).max(axis=1, initial=0.0)
    self._scale = float(slowest.sum()) or 1.0

  @functools.cached_property
  def simulator(self) -> simulator.Simulator:
    """Of the problem, op by op."""
    return simulator.Simulator(self.problem, self.costs)

  def with_costs(self, costs: cost_model.CostModel) -> 'PlanningModel':
    """A PlanningModel of the same problem with other costs.

    Args:
      costs: of the problem.
    """
    return PlanningModel(dataclasses.replace(self.problem, costs=costs))

  def scores(self, candidates: np.ndarray) -> np.ndarray:
    """Scores candidates on the coarse problem; lower is better.

    Args:
      candidates: int32 `[B, G]`, legal.

    Returns:
      float64 `[B]`: seconds of a step, more where memory does not suffice,
      inf where an op cannot run.
    """
    return self._scores(self._coarse, candidates)

  def full_scores(self, candidates: np.ndarray) -> np.ndarray:
    """The same, op by op: slower by the ops that a group has.

    Args:
      candidates: int32 `[B, G]`, legal.
    """
    return self._scores(self.simulator, candidates)

  def _scores(self, simulated, candidates: np.ndarray) -> np.ndarray:
    batch = simulated.simulate(candidates)
    limits = np.maximum(batch.memory_bytes, 1)
    over = np.maximum(batch.peak_bytes / limits - 1, 0).sum(axis=1)
    penalty = np.where(batch.status == 1, 1 + 10 * over, 0.0)
    return batch.unbounded_seconds + self._scale * penalty

  def fits(self, candidates: np.ndarray) -> np.ndarray:
    """bool `[B]`: which candidates run on the coarse problem.

    Args:
      candidates: int32 `[B, G]`, legal.
    """
    return self._coarse.simulate(candidates).feasible

  def predict(self, candidates: Iterable[np.ndarray]) -> list[Prediction]:
    """Predicts candidates op by op.

    Args:
      candidates: int `[G]` each, legal; of many, those with the best scores
        are taken.

    Returns:
      A Prediction of each different one, the best first: those that run by
      their step time, then those that don't by their score.
    """
    distinct = {
      row.tobytes(): row
      for row in (np.asarray(c, np.int32) for c in candidates)
    }
    if not distinct:
      return []
    rows = np.stack(list(distinct.values()))
    scores = self.scores(rows)
    order = np.argsort(scores, kind='stable')[:_MOST_PREDICTED]
    rows, scores = rows[order], scores[order]
    batch = self.simulator.simulate(rows)
    found = [self._prediction(rows, scores, batch, i) for i in range(len(rows))]
    return sorted(found, key=_rank)

  def _prediction(self, rows, scores, batch, index: int) -> Prediction:
    status = simulation_batch.STATUSES[batch.status[index]]
    ok = status is measurement.Status.OK
    return Prediction(
      candidate=rows[index],
      step_time_seconds=float(batch.unbounded_seconds[index]) if ok else None,
      status=status,
      reason=simulation_batch.reason(
        status,
        batch.peak_bytes[index],
        batch.memory_bytes,
        self.problem.devices.names,
      ),
      score=float(scores[index]),
    )


def _rank(prediction: Prediction) -> tuple[bool, float]:
  seconds = prediction.step_time_seconds
  if seconds is None:
    return True, prediction.score
  return False, seconds
