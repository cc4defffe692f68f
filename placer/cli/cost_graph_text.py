"""What `placer inspect` says of a CostGraph.

`summarise` gives a dict of JSON values:

  source, kind, notes: as in the CostGraph.
  ops, edges, colours: counts; ops of a colour share a device.
  cpu_only_ops: ops that accelerators cannot run.
  accelerator_seconds, cpu_seconds: of all ops, one after the other.
  longest_path_seconds: of the ops of one path, each on the faster kind of
    device: no placement is faster.
  persistent_bytes, tensor_bytes: of all ops, of all outputs.
  own_devices: accelerators, accelerator_bytes, cpus; or null.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from placer.importers import cost_graph


def summarise(found: cost_graph.CostGraph) -> dict[str, Any]:
  """The summary of the module docstring."""
  graph, own = found.graph, found.own
  return {
    'source': found.source,
    'kind': found.kind,
    'ops': len(graph),
    'edges': len(graph.edge_source),
    'colours': int(found.colour.max(initial=-1)) + 1,
    'cpu_only_ops': int((~found.on_accelerator).sum()),
    'accelerator_seconds': float(
      found.accelerator_seconds[found.on_accelerator].sum()
    ),
    'cpu_seconds': float(found.cpu_seconds.sum()),
    'longest_path_seconds': _longest_path(found),
    'persistent_bytes': int(graph.persistent_bytes.sum()),
    'tensor_bytes': int(graph.tensor_bytes.sum()),
    'own_devices': None
    if own is None
    else {
      'accelerators': own.accelerators,
      'accelerator_bytes': own.accelerator_bytes,
      'cpus': own.cpus,
    },
    'notes': list(found.notes),
  }


def render(summary: Mapping[str, Any]) -> str:
  """The text of a summary.

  Args:
    summary: what `summarise` gave.

  Returns:
    Lines of text.
  """
  ms = {
    key: f'{summary[key] * 1e3:,.1f} ms'
    for key in ('accelerator_seconds', 'cpu_seconds', 'longest_path_seconds')
  }
  mb = {
    key: f'{summary[key] / 1e6:,.0f} MB'
    for key in ('persistent_bytes', 'tensor_bytes')
  }
  lines = [
    f'{summary["source"]}: {summary["kind"]}, a graph of measured costs, which '
    'can be planned in simulation only',
    f'A step runs {summary["ops"]:,} ops with {summary["edges"]:,} edges',
    f'  takes       {ms["accelerator_seconds"]} on one accelerator, '
    f'{ms["cpu_seconds"]} on one CPU',
    f'  at least    {ms["longest_path_seconds"]}, its longest path',
    f'  keeps       {mb["persistent_bytes"]}',
    f'  makes       {mb["tensor_bytes"]} of tensors',
    'Placement',
    f'  together    {summary["colours"]:,} groups of ops that share a device',
    f'  CPU only    {summary["cpu_only_ops"]:,} ops',
    f'  devices     {_devices(summary["own_devices"])}',
  ]
  if summary['notes']:
    lines.append('Notes')
    lines += [f'  - {note}' for note in summary['notes']]
  return '\n'.join(lines)


def _devices(own: Mapping[str, Any] | None) -> str:
  if own is None:
    return 'none in the file; pass --devices=simulated:v100x4 or the like'
  limit = own['accelerator_bytes']
  each = '' if limit is None else f' of {limit / 1e6:,.0f} MB'
  return (
    f'in the file: {own["accelerators"]} accelerators{each}, {own["cpus"]} '
    'CPUs (--devices=auto)'
  )


def _longest_path(found: cost_graph.CostGraph) -> float:
  graph = found.graph
  seconds = np.where(
    found.on_accelerator,
    np.minimum(found.accelerator_seconds, found.cpu_seconds),
    found.cpu_seconds,
  )
  start = np.zeros(len(graph))
  order = np.argsort(graph.edge_source, kind='stable')
  for a, b in zip(
    graph.edge_source[order].tolist(),
    graph.edge_target[order].tolist(),
    strict=True,
  ):
    start[b] = max(start[b], start[a] + seconds[a])
  return float((start + seconds).max(initial=0.0))
