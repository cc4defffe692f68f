"""Reads the JSON workloads of Tarnawski et al., NeurIPS 2020, as CostGraphs.

    {"maxFPGAs": 5, "maxSizePerFPGA": 629145600.0, "maxCPUs": 8,
     "nodes": [{"id": 3, "name": "node3", "fpgaLatency": 0.7, "cpuLatency": 7.0,
                "size": 131325952.0, "supportedOnFpga": 1, "colorClass": 3}, …],
     "edges": [{"sourceId": 3, "destId": 4, "cost": 2.9, "size": 6291456.0}, …]}

Times are ms and taken as they are; an "FPGA" is any accelerator. The memory of
an accelerator has to hold the `size` of all its nodes, weights and outputs. An
edge's `cost` is the time to move its source's output between an accelerator
and host memory, `size` its bytes; without a size, the bytes are what goes over
the link of the released workloads, 2 GiB/s, in that time. Nodes without a
`colorClass` are alone.
"""

import json
import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from placer.core import errors
from placer.importers import cost_graph

KIND = 'dnn_partitioning'
BYTES_PER_SECOND = float(2**31)
_MS = 1e-3


def matches(text: str) -> bool:
  """Whether a file's text is meant to be such a workload."""
  return (
    text.lstrip()[:1] == '{'
    and '"nodes"' in text
    and '"edges"' in text
    and '"fpgaLatency"' in text
  )


def load(text: str, source: str) -> cost_graph.CostGraph:
  """Reads a workload.

  Args:
    text: of the file.
    source: its path, for messages.

  Returns:
    The CostGraph, with its own devices where the file has them.

  Raises:
    GraphImportError: a key is missing, a value makes no sense, an edge leads
      nowhere, or there is a cycle.
  """
  try:
    payload = json.loads(text)
  except ValueError as error:
    raise errors.GraphImportError(
      f'{source!r} looks like a JSON workload, but is not JSON: {error}.'
    ) from error
  nodes = [_Entry(n, 'node', source) for n in payload['nodes']]
  index = {node.integer('id'): i for i, node in enumerate(nodes)}
  if len(index) < len(nodes):
    raise errors.GraphImportError(f'{source!r} has two nodes of the same id.')
  edges = []
  for edge in (_Entry(e, 'edge', source) for e in payload['edges']):
    ends = [edge.integer(key) for key in ('sourceId', 'destId')]
    if not set(ends) <= set(index):
      raise errors.GraphImportError(
        f'{source!r}: an edge goes from {ends[0]} to {ends[1]}, but there is '
        'no node of one of these ids.'
      )
    edges.append((index[ends[0]], index[ends[1]], edge))
  order = cost_graph.topological_order(
    len(nodes), [(a, b) for a, b, _ in edges], source
  )
  place = np.empty(len(order), int)
  place[order] = np.arange(len(order))
  edges = [(int(place[a]), int(place[b]), edge) for a, b, edge in edges]
  return _make(payload, [nodes[i] for i in order], edges, source)


def _make(payload, nodes, edges, source) -> cost_graph.CostGraph:
  transfer, size = np.zeros(len(nodes)), np.zeros(len(nodes))
  for start, _, edge in edges:
    cost = edge.number('cost') * _MS
    transfer[start] = max(transfer[start], cost)
    bytes_ = edge.number('size', cost * BYTES_PER_SECOND)
    size[start] = max(size[start], bytes_)
  return cost_graph.CostGraph(
    source=source,
    kind=KIND,
    graph=cost_graph.make_graph(
      names=[str(n.get('name') or f'node{n.get("id")}') for n in nodes],
      types=['Backward' if n.get('isBackwardNode') else 'Node' for n in nodes],
      tensors=list(enumerate(np.rint(size).astype(np.int64).tolist())),
      edges=[(a, b, a) for a, b, _ in edges],
      persistent_bytes=[round(n.number('size', 0.0)) for n in nodes],
    ),
    accelerator_seconds=np.array(
      [n.number('fpgaLatency') * _MS for n in nodes]
    ),
    cpu_seconds=np.array([n.number('cpuLatency') * _MS for n in nodes]),
    on_accelerator=np.array(
      [bool(n.get('supportedOnFpga', True)) for n in nodes], bool
    ),
    colour=_colours([n.get('colorClass') for n in nodes]),
    keeps_outputs=True,
    own=_own_devices(_Entry(payload, 'file', source), transfer),
  )


def _own_devices(payload, transfer) -> cost_graph.OwnDevices | None:
  accelerators = payload.integer('maxFPGAs', 0)
  cpus = payload.integer('maxCPUs', 0)
  if accelerators + cpus == 0:
    return None
  limit = payload.number('maxSizePerFPGA', math.inf)
  return cost_graph.OwnDevices(
    accelerators=accelerators,
    accelerator_bytes=int(limit) if math.isfinite(limit) else None,
    cpus=cpus,
    transfer_seconds=transfer,
  )


def _colours(classes: list[Any]) -> np.ndarray:
  """int32 `[N]`: colours numbered by their first node."""
  number: dict[Any, int] = {}
  return np.array(
    [
      number.setdefault(('alone', i) if kind is None else kind, len(number))
      for i, kind in enumerate(classes)
    ],
    np.int32,
  )


class _Entry:
  """A JSON object of the file, whose values are checked when asked for."""

  def __init__(self, value: Any, what: str, source: str) -> None:
    if not isinstance(value, Mapping):
      raise errors.GraphImportError(
        f'{source!r}: a {what} is {str(value)[:40]!r}, but has to be an object.'
      )
    self._value, self._what, self._source = value, what, source

  def get(self, key: str, default: Any = None) -> Any:
    return self._value.get(key, default)

  def number(self, key: str, default: float | None = None) -> float:
    found = self._value.get(key, default)
    if not isinstance(found, numbers.Real) or not found >= 0:
      raise errors.GraphImportError(
        f'{self._source!r}: the {key} of a {self._what} is {found!r}, but has '
        f'to be a number of at least 0: {str(dict(self._value))[:120]}'
      )
    return float(found)

  def integer(self, key: str, default: int | None = None) -> int:
    return int(self.number(key, default))
