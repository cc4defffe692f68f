"""What grouper_placer is told of groups, and how it adds up in slots.

Letters: `G` groups, `V` op types, `A` amounts, `F` features.

  type_counts: float32 `[G, V]`, ops of each type.
  amounts: float32 `[G, A]`, shares of the graph's totals; they add up.
  adjacency: float32 `[G, G]`, 1 where the row is read by the column.
  own: float32 `[G, F]`, for the grouper: output sizes, neighbours, amounts,
    allowed devices, position, and with `identity` the group's number one-hot.
"""

import dataclasses

import numpy as np

from placer.core import placement_problem
from placer.policies.learning import group_features


@dataclasses.dataclass(frozen=True, eq=False)
class Features:
  """See the module docstring."""

  type_counts: np.ndarray
  amounts: np.ndarray
  adjacency: np.ndarray
  own: np.ndarray


def of_problem(
  problem: placement_problem.PlacementProblem, identity: bool
) -> Features:
  """The features of a problem with at least one group.

  Args:
    problem: G groups.
    identity: whether groups are told apart by number.
  """
  found = group_features.of_problem(problem)
  count = problem.num_groups
  own = [
    found.output_bytes,
    found.neighbours,
    np.sqrt(found.amounts * count),
    found.allowed,
    np.arange(count)[:, np.newaxis] / max(count - 1, 1),
  ]
  if identity:
    # Their length is that of the others together, some 5.
    own.append(5.0 * np.eye(count))
  return Features(
    type_counts=found.type_counts,
    amounts=found.amounts,
    adjacency=found.adjacency,
    own=np.concatenate(own, axis=1).astype(np.float32),
  )
