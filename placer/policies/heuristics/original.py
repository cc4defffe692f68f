"""The graph's own device annotations, where those devices exist.

Annotations come in any form ('/gpu:0', '/job:ps/task:1') and from any cluster.
Each is matched with the devices of this problem: parts that it leaves open
match anything, and of several matches the first is meant, as TensorFlow does.
Ops without an annotation, or whose device is absent, go where most annotated
ops of their group go, else to the first device they may use.

Nothing is suggested when no annotation matches; `note` says why.
"""

from collections.abc import Sequence

import numpy as np

from placer.core import device
from placer.core import errors
from placer.core import placement_problem
from placer.policies import base


class Original(base.Policy):
  """Suggests at most one candidate; see the module docstring.

  Attributes:
    note: a sentence for the user about annotations that were not followed, ''
      for none.
  """

  name = 'original'
  summary = 'the devices that the graph itself names'

  def __init__(
    self, problem: placement_problem.PlacementProblem, *, seed: int = 0
  ) -> None:
    super().__init__(problem, seed=seed)
    columns = {
      text: _column(problem.devices, text)
      for text in sorted(set(problem.graph.original_devices) - {''})
    }
    self.note = _note(problem, columns)
    self._queue = []
    if any(column is not None for column in columns.values()):
      placed = _candidate(problem, columns)
      self._queue.append(base.Suggestion(placed, 'original'))

  def suggest(self, count: int) -> Sequence[base.Suggestion]:
    taken, self._queue = self._queue[:count], self._queue[count:]
    return taken


def _column(topology: device.DeviceTopology, text: str) -> int | None:
  """The first device that an annotation matches, or None."""
  try:
    wanted = device.parse(text)
  except errors.UsageError:
    return None
  for index, name in enumerate(topology.names):
    full = device.parse(name)
    if all(v is None or full[part] == v for part, v in wanted.items()):
      return index
  return None


def _candidate(
  problem: placement_problem.PlacementProblem,
  columns: dict[str, int | None],
) -> np.ndarray:
  votes = np.zeros(problem.allowed.shape, np.int64)
  for op, text in enumerate(problem.graph.original_devices):
    column = columns.get(text)
    if column is not None:
      votes[problem.op_group[op], column] += 1
  votes[~problem.allowed] = -1
  return votes.argmax(axis=1).astype(np.int32)


def _note(
  problem: placement_problem.PlacementProblem,
  columns: dict[str, int | None],
) -> str:
  if not columns:
    return ''
  absent = [text for text, column in columns.items() if column is None]
  if not absent:
    return ''
  shown = ', '.join(absent[:3]) + (' …' if len(absent) > 3 else '')
  which = 'Some' if len(absent) < len(columns) else 'All'
  return (
    f'{which} devices that the graph names are not among '
    f'--devices={problem.devices.spec}: {shown}.'
    + ('' if which == 'Some' else ' Its own placement was not tried.')
  )
