"""What is in a graph, which ops can move, and what would block it.

nodes, functions: counts of the graph as the user gave it.
ops: ops of a step, bodies included.
op_types: (type, count), most frequent first.
feeds, fetches: of a step.
flops: floating point operations of a step.
persistent_bytes: variables and constants.
largest_tensors: (op path, bytes), the ten largest outputs.
original_devices: {device in the graph: number of ops}.
supported: {device type: number of ops with a kernel}.
hard_groups: number of groups that must stay together.
largest_hard_groups: (number of ops, op path of one), the five largest.
groups: number of groups to decide on.
unsupported: why ops can run on no device type at all.
blockers: (device type, why) of ops that can't use a type that others can.
notes: defaults, repairs, assumptions.
"""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import saved_model_pb2

from placer.core import op_graph
from placer.importers import base
from placer.problems import build
from placer.problems import coarsening
from placer.problems import colocation
from placer.problems import device_support
from placer.problems import op_graphs


@dataclasses.dataclass(frozen=True)
class Inspection:
  """What is in a graph; see the module docstring."""

  source: str
  kind: str
  nodes: int
  functions: int
  ops: int
  op_types: Sequence[tuple[str, int]]
  feeds: Sequence[str]
  fetches: Sequence[str]
  flops: float
  persistent_bytes: int
  largest_tensors: Sequence[tuple[str, int]]
  original_devices: dict[str, int]
  supported: dict[str, int]
  hard_groups: int
  largest_hard_groups: Sequence[tuple[int, str]]
  groups: int
  unsupported: Sequence[str]
  blockers: Sequence[tuple[str, str]]
  notes: Sequence[str]


def inspect(
  imported: base.ImportedGraph,
  *,
  device_types: Sequence[str] = ('CPU', 'GPU'),
  max_groups: int = build.DEFAULT_MAX_GROUPS,
) -> Inspection:
  """Looks at a graph; needs none of the devices.

  Args:
    imported: the graph.
    device_types: what to look up kernels for.
    max_groups: how many groups to decide on.

  Returns:
    An Inspection.
  """
  built = op_graphs.build(imported)
  graph = built.graph
  labels = colocation.colocate(built)
  support = device_support.DeviceSupport(built, device_types)
  rows = build.group_rows(support.supported, labels)
  op_group, _ = coarsening.coarsen(
    graph, labels, rows, build.op_cost(graph), max_groups
  )
  sizes = np.bincount(labels) if len(labels) else np.zeros(0, int)
  nowhere = ~support.supported.any(axis=1)
  original = _graph_def(imported)
  return Inspection(
    source=imported.source,
    kind=imported.kind,
    nodes=len(original.node),
    functions=len(original.library.function),
    feeds=[
      f'{f.name}: {f.dtype}{list(f.shape)}' for f in imported.program.feeds
    ],
    fetches=list(imported.program.fetches),
    supported={
      kind: int(support.supported[:, column].sum())
      for column, kind in enumerate(device_types)
    },
    hard_groups=len(sizes),
    largest_hard_groups=[
      (int(sizes[g]), graph.names[int(np.flatnonzero(labels == g)[0])])
      for g in np.argsort(-sizes, kind='stable')[:5]
      if sizes[g] > 1
    ],
    groups=int(op_group.max(initial=-1)) + 1,
    unsupported=[support.reason(int(op)) for op in np.flatnonzero(nowhere)],
    blockers=_blockers(support, device_types, nowhere),
    notes=[*imported.notes, *built.notes],
    **_of_ops(graph),
  )


def _of_ops(graph: op_graph.OpGraph) -> dict[str, Any]:
  """The fields that say what the ops of a step are."""
  largest = np.argsort(-graph.output_bytes, kind='stable')[:10]
  return {
    'ops': len(graph),
    'op_types': collections.Counter(graph.types).most_common(),
    'flops': float(graph.flops.sum()),
    'persistent_bytes': int(graph.persistent_bytes.sum()),
    'largest_tensors': [
      (graph.names[i], int(graph.output_bytes[i]))
      for i in largest.tolist()
      if graph.output_bytes[i]
    ],
    'original_devices': dict(
      collections.Counter(d for d in graph.original_devices if d)
    ),
  }


def _graph_def(imported: base.ImportedGraph) -> graph_pb2.GraphDef:
  original = imported.original
  if isinstance(original, saved_model_pb2.SavedModel):
    original = original.meta_graphs[imported.meta_graph_index]
  return original if imported.kind == 'graph_def' else original.graph_def


def _blockers(
  support: device_support.DeviceSupport,
  device_types: Sequence[str],
  nowhere: np.ndarray,
) -> list[tuple[str, str]]:
  return [
    (kind, support.reason(int(op)))
    for column, kind in enumerate(device_types)
    for op in np.flatnonzero(~support.supported[:, column] & ~nowhere)
  ]
