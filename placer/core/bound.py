"""Bound: a step time that no placement of a problem can beat, and why.

  seconds: in the model, a problem and its costs as the simulator runs them op
    by op, no placement that runs takes less; inf where none runs.
  method: how that is known:
    'all placements'    each was simulated;
    'critical path'     ops that wait for one another, wherever they run;
    'work'              of all ops, on all devices;
    'windows'           both, on the way to each op and from it;
    'branch and bound'  where groups are: transfers and channels as well;
    'CP-SAT'            placement and schedule as a constraint program.

A bound tells how far from the best an answer can be at most. It may lie far
below the best step itself: that ops run in the order in which they become ready
it does not know.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Bound:
  """What no placement can beat; see the module docstring."""

  seconds: float
  method: str

  def gap(self, step_time_seconds: float) -> float:
    """How far above the bound a step is at most from the best: 0.05 is 5 %."""
    if self.seconds <= 0:
      return 0.0 if step_time_seconds <= 0 else np.inf
    return step_time_seconds / self.seconds - 1
