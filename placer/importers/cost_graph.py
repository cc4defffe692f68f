"""CostGraph: a graph of which others measured the costs; there is no GraphDef.

It can be planned in simulation, but not run. Letters: `N` ops, `T` tensors.

  source: the path, for messages.
  kind: 'dnn_partitioning' or 'pipedream'.
  graph: the OpGraph: N ops and T tensors; flops are not known, so 0.
  accelerator_seconds: float64 `[N]`, an op on an accelerator.
  cpu_seconds: float64 `[N]`, an op on a CPU.
  on_accelerator: bool `[N]`, whether an accelerator can run the op.
  colour: int32 `[N]`: ops of one colour share a device; each colour 0, 1, …
    is used.
  keeps_outputs: whether `graph.persistent_bytes` has the ops' outputs in it,
    so that tensors take no memory of their own.
  own: the file's own OwnDevices, or None where it names none.
  notes: sentences for the user.

`OwnDevices`: what the file says about devices.
  accelerators: how many.
  accelerator_bytes: memory of each, or None for no limit.
  cpus: ops that the host runs at once; 0 for no CPU.
  transfer_seconds: float64 `[T]`, to move a tensor from an accelerator to host
    memory or back; an accelerator is busy with it.
"""

import dataclasses
import heapq
from collections.abc import Sequence

import numpy as np

from placer.core import errors
from placer.core import op_graph


@dataclasses.dataclass(frozen=True, eq=False)
class OwnDevices:
  """The devices that a file names; see the module docstring."""

  accelerators: int
  accelerator_bytes: int | None
  cpus: int
  transfer_seconds: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class CostGraph:
  """A graph with costs; see the module docstring."""

  source: str
  kind: str
  graph: op_graph.OpGraph
  accelerator_seconds: np.ndarray
  cpu_seconds: np.ndarray
  on_accelerator: np.ndarray
  colour: np.ndarray
  keeps_outputs: bool = False
  own: OwnDevices | None = None
  notes: tuple[str, ...] = ()


def topological_order(
  count: int, edges: Sequence[tuple[int, int]], source: str
) -> list[int]:
  """An order in which edges go forward; the file's own where that does.

  Args:
    count: N ops.
    edges: (from, to) pairs of 0..N-1.
    source: the path, for messages.

  Returns:
    The N ops in order.

  Raises:
    GraphImportError: there is a cycle.
  """
  readers: list[list[int]] = [[] for _ in range(count)]
  waiting = [0] * count
  for start, end in edges:
    readers[start].append(end)
    waiting[end] += 1
  ready = [op for op in range(count) if not waiting[op]]
  order = []
  while ready:
    op = heapq.heappop(ready)
    order.append(op)
    for reader in readers[op]:
      waiting[reader] -= 1
      if not waiting[reader]:
        heapq.heappush(ready, reader)
  if len(order) < count:
    raise errors.GraphImportError(
      f'{source!r} has a cycle, which {count - len(order)} of its {count} '
      'nodes are in or behind. A cost graph is a step without loops: take out '
      'the edge that closes the cycle.'
    )
  return order


def make_graph(
  names: Sequence[str],
  types: Sequence[str],
  tensors: Sequence[tuple[int, int]],
  edges: Sequence[tuple[int, int, int]],
  persistent_bytes: Sequence[int],
) -> op_graph.OpGraph:
  """An OpGraph without flops and devices.

  Args:
    names: N op names in topological order; one that comes again gets a
      number behind it.
    types: N op types.
    tensors: T pairs (op that makes it, bytes), by op.
    edges: E triples (from, to, tensor or -1).
    persistent_bytes: N sizes.

  Returns:
    The OpGraph.
  """
  ops, made = len(names), np.array(tensors, np.int64).reshape(-1, 2)
  ends = np.array(edges, np.int32).reshape(-1, 3)
  return op_graph.OpGraph(
    names=_distinct(names),
    types=tuple(types),
    tensor_source=made[:, 0].astype(np.int32),
    tensor_bytes=made[:, 1].copy(),
    tensor_shape_known=np.ones(len(made), bool),
    edge_source=ends[:, 0].copy(),
    edge_target=ends[:, 1].copy(),
    edge_tensor=ends[:, 2].copy(),
    edge_is_back=np.zeros(len(ends), bool),
    flops=np.zeros(ops),
    persistent_bytes=np.array(persistent_bytes, np.int64),
    original_devices=('',) * ops,
  )


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
  taken, result = set(names), []
  seen: set[str] = set()
  for name in names:
    chosen, number = name, 1
    while chosen in seen or (chosen != name and chosen in taken):
      chosen, number = f'{name}_{number}', number + 1
    seen.add(chosen)
    result.append(chosen)
  return tuple(result)
