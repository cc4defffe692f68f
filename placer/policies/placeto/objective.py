"""Objective: R(placement), what an episode makes smaller, in seconds.

    R = min(t + c * max(m - M, 0), cap)

with t the step without memory limits, m the peak of the device that exceeds its
limit M the most, in GB (1e9 bytes), c `seconds_per_gb` and the cap
`most_seconds` (Placeto, A.7; its released code caps, too: an uncapped penalty
drowns every other reward). What cannot run at all costs the cap.

R is rounded to 2^-40 s (a picosecond): differences of such numbers below 8192
have no rounding of their own, so the rewards of an episode add up exactly.

The simulator is that of the coarse problem, with the problem's costs or
assumed ones; `seconds_op_by_op` takes the problem itself. Letters: `B`
placements, `G` groups, `D` devices.
"""

import functools

import numpy as np

from placer.core import placement_problem
from placer.policies import planning_costs
from placer.policies.learning import rewards
from placer.simulation import coarse
from placer.simulation import simulator

# Multiples of the reference: what exceeding the smallest limit by all of it
# costs, and the most that anything costs.
_PENALTY = 10.0
_MOST = 20.0
_GB = 1e9
_STEPS_PER_SECOND = 2.0**40
# The problem is as good as the coarse one below this many times its size.
_WORTH = 1.5


class Objective:
  """R of the placements of one problem; see the module docstring.

  Attributes:
    problem: the coarse problem that is simulated, G groups on D devices.
    costs: its CostModel.
    reference_seconds: the scale of the problem, positive: the sum over all ops
      of the time on their fastest device.
    seconds_per_gb: c.
    most_seconds: the cap.
    evaluations: placements simulated so far.
  """

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    seconds_per_gb: float | None = None,
    most_seconds: float | None = None,
  ) -> None:
    """Prepares the simulator.

    Args:
      problem: G groups on D devices; its `costs` may be None.
      seconds_per_gb: c; None scales it to the problem.
      most_seconds: the cap; None scales it to the problem.
    """
    small = coarse.coarse_problem(problem, planning_costs.of_problem(problem))
    self.problem, self.costs = small.problem, small.cost_model
    self._simulator = simulator.Simulator(self.problem, self.costs)
    self._whole = problem
    fastest = self.costs.op_seconds.min(axis=1, initial=np.inf)
    total = float(fastest[np.isfinite(fastest)].sum())
    self.reference_seconds = total if total > 0 else 1.0
    limit = float(self.costs.memory_bytes.min())
    if seconds_per_gb is None:
      seconds_per_gb = _PENALTY * self.reference_seconds / (limit / _GB)
    if most_seconds is None:
      most_seconds = _MOST * self.reference_seconds
    self.seconds_per_gb, self.most_seconds = seconds_per_gb, most_seconds
    self.evaluations = 0

  def seconds(self, placements: np.ndarray) -> np.ndarray:
    """R of B placements, in one call of the simulator.

    Args:
      placements: int `[B, G]`, legal.

    Returns:
      float64 `[B]`, seconds, at most `most_seconds`.
    """
    return self.penalised(self.outcomes(placements))

  @property
  def visits(self) -> int:
    """Ops and edges of the problem before it was made coarse."""
    graph = self._whole.graph
    return len(graph) + len(graph.edge_source)

  @property
  def is_coarse(self) -> bool:
    """Whether simulating op by op may come to something else."""
    graph = self.problem.graph
    return self.visits > _WORTH * (len(graph) + len(graph.edge_source))

  def seconds_op_by_op(self, placements: np.ndarray) -> np.ndarray:
    """R of int `[B, G]` placements on the problem itself, float64 `[B]`."""
    self.evaluations += len(placements)
    batch = self._op_by_op.simulate(placements)
    return self.penalised(rewards.of_simulation(batch))

  @functools.cached_property
  def _op_by_op(self) -> simulator.Simulator:
    costs = planning_costs.of_problem(self._whole)
    return simulator.Simulator(self._whole, costs)

  def outcomes(self, placements: np.ndarray) -> rewards.Outcomes:
    """The Outcomes of int `[B, G]` placements, in one call."""
    self.evaluations += len(placements)
    return rewards.of_simulation(self._simulator.simulate(placements))

  def penalised(self, outcomes: rewards.Outcomes) -> np.ndarray:
    """R of B placements that were simulated or measured; float64 `[B]`."""
    seconds = rewards.penalised_seconds(
      outcomes,
      cap_seconds=self.most_seconds,
      seconds_per_gigabyte=self.seconds_per_gb,
    )
    return np.round(seconds * _STEPS_PER_SECOND) / _STEPS_PER_SECOND

  def start_seconds(self, placements: np.ndarray) -> np.ndarray:
    """When the groups start to run.

    Args:
      placements: int `[B, G]`, legal.

    Returns:
      float64 `[B, G]`, seconds: the start of the first op of each group.
    """
    starts = self._simulator.op_start_seconds(placements)
    first = np.full((len(placements), self.problem.num_groups), np.inf)
    np.minimum.at(first.T, self.problem.op_group, starts.T)
    return first
