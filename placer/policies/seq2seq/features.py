"""What seq2seq is told of each group.

Letters: `G` groups, `V` op types, `F` features.

  type_weights: float32 `[G, V]`, the part that each op type has of a group's
    ops; times the embeddings it is the mean embedding (ColocRL).
  others: float32 `[G, F]`: output sizes, amounts (square roots of shares, as
    they span orders of magnitude), allowed devices, position, adjacency to
    every group, in and out.
"""

import numpy as np

from placer.core import placement_problem
from placer.policies.learning import group_features


def of_problem(
  problem: placement_problem.PlacementProblem,
) -> tuple[np.ndarray, np.ndarray]:
  """(type_weights, others) of a problem; see the module docstring."""
  found = group_features.of_problem(problem)
  count = problem.num_groups
  weights = found.type_counts / found.type_counts.sum(axis=1, keepdims=True)
  # Amounts of a group are about 1 / G; roots of them times G are about 1.
  amounts = np.sqrt(found.amounts * count)
  position = np.arange(count)[:, np.newaxis] / max(count - 1, 1)
  others = np.concatenate(
    [
      found.output_bytes,
      amounts,
      found.allowed,
      position,
      found.adjacency,
      found.adjacency.T,
    ],
    axis=1,
  )
  return weights.astype(np.float32), others.astype(np.float32)
