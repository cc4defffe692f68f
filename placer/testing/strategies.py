"""Hypothesis strategies for PlacementProblems."""

import numpy as np
from hypothesis import strategies as st

from placer.core import placement_problem
from placer.testing import problems as builders


@st.composite
def problems(
  draw: st.DrawFn, max_ops: int = 12, max_devices: int = 4
) -> placement_problem.PlacementProblem:
  """Random problems: any DAG, any groups (also cyclic ones), any constraints.

  Args:
    draw: given by hypothesis.
    max_ops: the largest N; the smallest is 0.
    max_devices: the largest D; the smallest is 1.

  Returns:
    A strategy's value: a legal PlacementProblem.
  """
  ops = draw(st.integers(0, max_ops))
  devices = draw(st.integers(1, max_devices))
  seed = draw(st.integers(0, 2**16))
  rng = np.random.default_rng(seed)
  edges = [
    (i, j)
    for i in range(ops)
    for j in range(i + 1, ops)
    if rng.random() < 2 / ops
  ]
  labels = rng.integers(draw(st.integers(1, max_ops)), size=ops)
  # Groups are numbered by their first op.
  _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
  rank = np.empty(len(first), int)
  rank[np.argsort(first)] = np.arange(len(first))
  allowed = rng.random((len(first), devices)) < draw(st.floats(0.3, 1.0))
  allowed[np.arange(len(first)), rng.integers(devices, size=len(first))] = True
  return builders.build(
    [f'layer_{i % 3}/op_{i}' for i in range(ops)],
    edges,
    devices=builders.topology(devices, linked=draw(st.booleans())),
    flops=rng.choice([0.0, 1e6, 1e9, 1e10], size=ops),
    tensor_bytes=rng.choice([0, 4, 10**6, 10**8], size=ops),
    allowed=allowed,
    op_group=rank[inverse],
    original_devices=rng.choice(['', '/cpu:0', '/job:worker/task:1'], ops),
  )
