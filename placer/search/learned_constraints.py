"""What failed trials teach: ops that a kind of device cannot run after all.

A registered kernel is not one that runs: MaxPool in NCHW has a CPU kernel that
refuses at the first step (DESIGN §3.7). One failed run is enough; from then on
no op of that type is put on a device of that type, as long as the op may be
elsewhere.

  allowed: bool `[G, D]`, what is still allowed; the problem's own, less what
    was learnt. Each row keeps a True.
"""

import numpy as np

from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.core import trial as trial_lib


class LearnedConstraints:
  """Learns from trials, and repairs candidates; see the module docstring."""

  def __init__(self, problem: placement_problem.PlacementProblem) -> None:
    """Starts with what the problem allows.

    Args:
      problem: G groups on D devices.
    """
    self._problem = problem
    self.allowed = problem.allowed.copy()

  def learn(self, trial: trial_lib.Trial) -> str:
    """Learns from one trial.

    Args:
      trial: any trial; only one with status `unsupported_op` whose details
        name the 'op' teaches something.

    Returns:
      A sentence for the user if something new was learnt, else ''.
    """
    measured = trial.measurement
    op = self._problem.graph.index.get(measured.details.get('op', ''))
    if measured.status is not measurement_lib.Status.UNSUPPORTED_OP:
      return ''
    if op is None:
      return ''
    kind = self._problem.graph.types[op]
    devices = self._problem.devices.devices
    failed = devices[trial.candidate[self._problem.op_group[op]]].type
    columns = [i for i, each in enumerate(devices) if each.type == failed]
    groups = np.unique(
      self._problem.op_group[[t == kind for t in self._problem.graph.types]]
    )
    rows = self.allowed[groups]
    rows[:, columns] = False
    # A group that could go nowhere else keeps what it had.
    rows[~rows.any(axis=1)] = self.allowed[groups][~rows.any(axis=1)]
    if np.array_equal(rows, self.allowed[groups]):
      return ''
    self.allowed[groups] = rows
    return (
      f'{kind} does not run on a {failed} here ({measured.reason}), so no '
      f'{kind} is put on one any more.'
    )

  def repair(self, candidate: np.ndarray) -> np.ndarray:
    """The candidate, with groups moved that may not be where they are.

    Args:
      candidate: int32 `[G]`, legal for the problem.

    Returns:
      int32 `[G]`; the same array if nothing has to move. A group that has to
      goes to the first device that is left to it.
    """
    wrong = ~self.allowed[np.arange(len(candidate)), candidate]
    if not wrong.any():
      return candidate
    repaired = candidate.copy()
    repaired[wrong] = self.allowed[wrong].argmax(axis=1)
    return repaired
