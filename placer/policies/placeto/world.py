"""World: all of one problem that episodes of it need, made once.

problem: the PlacementProblem, G groups on D devices.
objective: R of its placements.
arrays: the GraphArrays.
environment: the episodes.
"""

import functools

import numpy as np

from placer.core import placement_problem
from placer.policies.learning import warm_start
from placer.policies.placeto import config as config_lib
from placer.policies.placeto import environment
from placer.policies.placeto import graph_arrays
from placer.policies.placeto import graph_batch
from placer.policies.placeto import objective


class World:
  """One problem; see the module docstring."""

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    config: config_lib.PlacetoConfig,
  ) -> None:
    """Prepares a problem.

    Args:
      problem: at least one group; its `costs` may be None.
      config: `seconds_per_gb`, `most_seconds` and `warm_start` count.
    """
    self.problem = problem
    self._warm_start = config.warm_start
    self.objective = objective.Objective(
      problem,
      seconds_per_gb=config.seconds_per_gb,
      most_seconds=config.most_seconds,
    )
    self.arrays = graph_arrays.build(self.objective)
    self.environment = environment.Environment(
      self.objective, self.arrays.allowed
    )

  @functools.cached_property
  def single_device(self) -> np.ndarray:
    """int32 `[G]`: all on the device that is best for it, what may be there."""
    allowed = self.arrays.allowed
    first = allowed.argmax(axis=1)
    rows = np.stack(
      [
        np.where(allowed[:, device], device, first)
        for device in range(allowed.shape[1])
      ]
    )
    return rows[self.objective.seconds(rows).argmin()].astype(np.int32)

  @functools.cached_property
  def planned(self) -> np.ndarray:
    """int32 `[K, G]`: what the policies of the warm start suggest."""
    found = warm_start.candidates(self.problem, self._warm_start)
    rows = np.arange(self.environment.num_groups)
    return found[self.arrays.allowed[rows, found].all(axis=1)]

  @functools.cached_property
  def best_planned(self) -> np.ndarray:
    """int32 `[G]`: the best of them, and of all on one device."""
    rows = np.concatenate([self.planned, self.single_device[np.newaxis]])
    return rows[self.objective.seconds(rows).argmin()]

  def random(self, rng: np.random.Generator) -> np.ndarray:
    """int32 `[G]`: a random legal placement."""
    allowed = self.arrays.allowed
    draws = np.where(allowed, rng.random(allowed.shape), -1)
    return draws.argmax(axis=1).astype(np.int32)

  def start_features(self, start: np.ndarray) -> np.ndarray:
    """What `graph_batch.start_features` says of int `[G]`."""
    row = start[np.newaxis]
    return graph_batch.start_features(
      self.arrays,
      start,
      self.objective.start_seconds(row)[0],
      float(self.objective.outcomes(row).step_seconds[0]),
    )
