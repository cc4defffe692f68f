"""Random problems with random costs, for tests of the simulator.

Everything that a CostModel can say occurs: several outputs, unread ones,
control edges, back edges, double edges, loops, shared buffers, host memory,
services, shared channels, gaps, concurrency, memory limits. Costs are often
zero or small integers, so that many events happen at the same time.
"""

import dataclasses

import numpy as np
from hypothesis import strategies as st

from placer.core import cost_model
from placer.core import device
from placer.core import link_costs
from placer.core import op_graph
from placer.core import placement_problem
from placer.testing import problems


@dataclasses.dataclass(frozen=True, eq=False)
class RandomStep:
  """A problem, its costs, and B candidates int32 `[B, G]`, all legal."""

  problem: placement_problem.PlacementProblem
  costs: cost_model.CostModel
  candidates: np.ndarray
  priority: np.ndarray | None


@st.composite
def steps(
  draw: st.DrawFn, max_ops: int = 16, max_devices: int = 4
) -> RandomStep:
  """A strategy of RandomSteps.

  Args:
    draw: given by hypothesis.
    max_ops: the largest N; the smallest is 0.
    max_devices: the largest D; the smallest is 1.

  Returns:
    A strategy's value.
  """
  return make(
    draw(st.integers(0, max_ops)),
    draw(st.integers(1, max_devices)),
    seed=draw(st.integers(0, 2**32 - 1)),
    plain=draw(st.booleans()),
  )


def make(
  ops: int, devices: int, *, seed: int = 0, plain: bool = False
) -> RandomStep:
  """One RandomStep.

  Args:
    ops: N.
    devices: D.
    seed: of everything.
    plain: integers as costs instead of any floats.

  Returns:
    The RandomStep, with 4 candidates.
  """
  rng = np.random.default_rng(seed)
  graph = _graph(rng, ops)
  topology = problems.topology(devices)
  if rng.random() < 0.5:
    limits = rng.choice([50, 200, 1000], size=devices).tolist()
    topology = dataclasses.replace(
      topology,
      devices=tuple(
        device.Device(name, memory_bytes=limit)
        for name, limit in zip(topology.names, limits, strict=True)
      ),
    )
  groups = rng.integers(max(ops, 1), size=ops)
  _, first, group = np.unique(groups, return_index=True, return_inverse=True)
  group = np.argsort(np.argsort(first))[group]
  problem = placement_problem.PlacementProblem(
    graph=graph,
    devices=topology,
    op_group=group.astype(np.int32),
    allowed=np.ones((len(first), devices), bool),
    group_names=tuple(f'group_{i}' for i in range(len(first))),
  )
  return RandomStep(
    problem,
    _costs(rng, problem, plain),
    rng.integers(devices, size=(4, len(first))).astype(np.int32),
    rng.integers(4, size=ops).astype(float) if rng.random() < 0.3 else None,
  )


def _graph(rng: np.random.Generator, ops: int) -> op_graph.OpGraph:
  outputs = rng.integers(0, 4, size=ops)
  first = np.concatenate([[0], np.cumsum(outputs)])
  edges = []
  for target in range(ops):
    for source in rng.integers(max(target, 1), size=rng.integers(0, 4)):
      if source < target:
        edges.append((source, target, False))
  if ops > 1 and rng.random() < 0.3:
    edges.append((ops - 1, int(rng.integers(ops - 1)), True))
  tensors = [
    rng.integers(first[s], first[s + 1])
    if outputs[s] and rng.random() < 0.8
    else -1
    for s, _, _ in edges
  ]
  kinds = rng.choice(['MatMul', 'Identity', 'Const'], ops, p=[0.6, 0.3, 0.1])
  return op_graph.OpGraph(
    names=tuple(f'op_{i}' for i in range(ops)),
    types=tuple(kinds.tolist()),
    tensor_source=np.repeat(np.arange(ops), outputs).astype(np.int32),
    tensor_bytes=rng.choice([0, 1, 8, 64, 1000], int(outputs.sum())),
    tensor_shape_known=np.ones(outputs.sum(), bool),
    edge_source=np.array([edge[0] for edge in edges], np.int32),
    edge_target=np.array([edge[1] for edge in edges], np.int32),
    edge_tensor=np.array(tensors, np.int32),
    edge_is_back=np.array([edge[2] for edge in edges], bool),
    flops=np.zeros(ops),
    persistent_bytes=rng.choice([0, 0, 0, 16], ops),
    original_devices=('',) * ops,
  )


def _costs(rng, problem, plain: bool) -> cost_model.CostModel:
  graph, count = problem.graph, len(problem.devices)

  def seconds(shape, zeros=0.3):
    values = rng.integers(1, 5, shape) if plain else rng.uniform(0, 4, shape)
    return np.where(rng.random(shape) < zeros, 0.0, values)

  def links() -> link_costs.LinkCosts:
    shape = (count, count)
    # Half of the time nobody is busy with sending.
    zeros = rng.choice([1.0, 0.4], 4)
    channels = rng.integers(1, count * count + 1)
    return link_costs.LinkCosts(
      latency_seconds=seconds(shape),
      message_seconds=seconds(shape),
      bytes_per_second=rng.choice([1.0, 8.0, 100.0, np.inf], shape),
      send_seconds_per_message=seconds(shape, zeros[0]),
      send_seconds_per_byte=seconds(shape, zeros[1]) / 64,
      receive_seconds_per_message=seconds(shape, zeros[2]),
      receive_seconds_per_byte=seconds(shape, zeros[3]) / 64,
      channel=rng.integers(channels, size=shape).astype(np.int32),
    )

  shape = (len(graph), count)
  return cost_model.build(
    graph,
    problem.devices,
    seconds(shape),
    links=links(),
    host_links=links(),
    gap_seconds=seconds(shape, rng.choice([1.0, 0.5])),
    op_runs=rng.choice([1, 1, 1, 3], len(graph)),
    temporary_bytes=rng.choice([0, 0, 10, 500], len(graph)),
    host_output=rng.random((len(graph.tensor_bytes), count)) < 0.2,
    concurrency=rng.choice([1, 1, 2, 5], count),
    threaded=rng.random(count) < 0.4,
    slice_seconds=rng.choice([np.inf, np.inf, 1.0, 0.7], count),
  )
