"""MeasuredEvaluator: tells a learner what placements come to on the devices."""

import numpy as np

from placer.core import errors
from placer.core import placement_problem
from placer.core import trial
from placer.measurers import base
from placer.policies import registry
from placer.policies.learning import rewards


class MeasuredEvaluator:
  """Runs placements, each paired with the best single device.

  Attributes:
    reference_seconds: the step on it.
  """

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    measurer: base.Measurer,
    steps: int | None,
  ) -> None:
    """Measures the single devices.

    Args:
      problem: the graph.
      measurer: of it, open.
      steps: of each placement; None by how long they take.

    Raises:
      NoFeasiblePlacementError: no single device runs the graph.
    """
    self._problem, self._measurer, self._steps = problem, measurer, steps
    singles = np.stack(
      [
        each.candidate
        for each in registry.make('single_device', problem).suggest(
          len(problem.devices)
        )
      ]
    )
    found = measurer.measure(problem, singles, steps=steps)
    seconds = [m.step_time_seconds if m.ok else np.inf for m in found]
    best = int(np.argmin(seconds))
    if not found[best].ok:
      raise errors.NoFeasiblePlacementError(
        f'No single device runs the graph: {found[best].reason}'
      )
    self.reference_seconds = seconds[best]
    self._reference = singles[best]

  def __call__(self, graph: int, candidates: np.ndarray) -> rewards.Outcomes:
    """The Outcomes of int32 `[B, G]` candidates; `graph` is 0, the only one."""
    found = self._measurer.measure(
      self._problem,
      candidates,
      reference=self._reference,
      steps=self._steps,
    )
    return rewards.of_trials(
      [
        trial.Trial(graph, '', candidate, measured)
        for candidate, measured in zip(candidates, found, strict=True)
      ],
      len(self._problem.devices),
    )
