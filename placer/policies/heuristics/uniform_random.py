"""Uniformly random legal placements, without end.

The file isn't named `random.py`: a test that runs beside it would import it in
place of the standard library's module.
"""

from collections.abc import Sequence

import numpy as np

from placer.policies import base


class UniformRandom(base.Policy):
  """Draws each group's device uniformly; see the module docstring."""

  name = 'random'
  summary = 'uniformly random legal placements, without end'

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    allowed = self.problem.allowed
    keys = self.rng.random((count, *allowed.shape))
    # The largest of independent keys is uniform over the allowed devices.
    draws = np.where(allowed, keys, -1.0).argmax(axis=2).astype(np.int32)
    return [base.Suggestion(draw) for draw in draws]
