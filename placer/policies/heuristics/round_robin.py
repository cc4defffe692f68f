"""Groups in topological order, a device after the other: much traffic.

A baseline that shows what ignoring the tensors costs. A group that may not use
the device whose turn it is takes the next one that it may use.
"""

from collections.abc import Sequence

import numpy as np

from placer.policies import base


class RoundRobin(base.Policy):
  """Suggests one candidate; see the module docstring."""

  name = 'round_robin'
  summary = 'groups in topological order, a device after the other'

  _done = False

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    if self._done or count < 1:
      return []
    self._done = True
    groups, devices = self.problem.allowed.shape
    turns = (np.arange(groups)[:, None] + np.arange(devices)) % devices
    legal = np.take_along_axis(self.problem.allowed, turns, axis=1)
    placed = turns[np.arange(groups), legal.argmax(axis=1)].astype(np.int32)
    return [base.Suggestion(placed, 'round_robin')]
