"""ImportedGraph and devices -> PlacementProblem.

OpGraph -> hard colocation -> allowed devices -> coarsening -> problem, with the
analytic costs of its ops.
"""

from collections.abc import Mapping

import numpy as np

from placer.core import device as device_lib
from placer.core import errors
from placer.core import op_graph
from placer.core import placement_problem
from placer.importers import base
from placer.problems import coarsening
from placer.problems import colocation
from placer.problems import costs
from placer.problems import device_support
from placer.problems import op_graphs

DEFAULT_MAX_GROUPS = 256
# Rates of a CPU core, only to weigh arithmetic against moving bytes when ops
# are merged; real costs come from measurement.
_FLOPS_PER_SECOND = 5e10
_BYTES_PER_SECOND = 1e10


def build(
  imported: base.ImportedGraph,
  devices: device_lib.DeviceTopology,
  *,
  max_groups: int = DEFAULT_MAX_GROUPS,
  pinned: Mapping[str, int] | None = None,
) -> placement_problem.PlacementProblem:
  """Makes the PlacementProblem of a graph on devices.

  Args:
    imported: the graph.
    devices: D devices.
    max_groups: how many groups there may be.
    pinned: {op path: index of the only device it may use}; paths that are not
      in the graph are left out.

  Returns:
    A PlacementProblem with G <= max_groups groups, unless constraints need
    more (then a note says so).

  Raises:
    UsageError: `max_groups` is below 1.
    NoFeasiblePlacementError: some ops can run on none of the devices.
  """
  if max_groups < 1:
    raise errors.UsageError(
      f'--max_groups={max_groups}: it must be at least 1.'
    )
  built = op_graphs.build(imported)
  graph = built.graph
  labels = colocation.colocate(built)
  types = tuple(dict.fromkeys(device.type for device in devices.devices))
  support = device_support.DeviceSupport(built, types)
  columns = [types.index(device.type) for device in devices.devices]
  hard = group_rows(support.supported[:, columns], labels)
  hard = _pin(hard, labels, graph, pinned or {})
  _check_feasible(hard, labels, support, built, devices)
  op_group, allowed = coarsening.coarsen(
    graph, labels, hard, op_cost(graph), max_groups
  )
  reasons = _reasons(op_group, allowed, support)
  notes = list(built.notes)
  if len(allowed) > max_groups:
    notes.append(
      f'Constraints keep {len(allowed)} groups, more than the '
      f'--max_groups={max_groups} asked for.'
    )
  return placement_problem.PlacementProblem(
    graph=graph,
    devices=devices,
    op_group=op_group,
    allowed=allowed,
    group_names=_names(graph, op_group, len(allowed)),
    fixed_reasons=reasons,
    notes=tuple(notes),
    costs=costs.analytic(graph, devices),
  )


def op_cost(graph: op_graph.OpGraph) -> np.ndarray:
  """float64 `[N]`: seconds of each op as if on one CPU core; to weigh only."""
  return (
    graph.flops / _FLOPS_PER_SECOND + graph.output_bytes / _BYTES_PER_SECOND
  )


def group_rows(op_rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
  """bool `[H, D]`: what all ops of a group have in bool `[N, D]`."""
  rows = np.ones((int(labels.max(initial=-1)) + 1, op_rows.shape[1]), bool)
  np.logical_and.at(rows, labels, op_rows)
  return rows


def _pin(
  hard: np.ndarray,
  labels: np.ndarray,
  graph: op_graph.OpGraph,
  pinned: Mapping[str, int],
) -> np.ndarray:
  """bool `[H, D]`: `hard`, with pinned ops on their devices only."""
  hard = hard.copy()
  owner: dict[int, str] = {}
  for path, device in pinned.items():
    if path not in graph.index:
      continue
    group = int(labels[graph.index[path]])
    other = owner.setdefault(group, path)
    if pinned[other] != device:
      raise errors.NoFeasiblePlacementError(
        f'{other!r} and {path!r} must share a device, but are on two different '
        'ones. Create both on one device.'
      )
    hard[group, np.arange(hard.shape[1]) != device] = False
  return hard


def _check_feasible(hard, labels, support, built, devices) -> None:
  stuck = np.flatnonzero(~hard.any(axis=1))
  if not len(stuck):
    return
  reasons = [
    reason
    for op in np.flatnonzero(np.isin(labels, stuck))
    if (reason := support.reason(int(op)))
  ]
  more = f' and {len(reasons) - 5} more' if len(reasons) > 5 else ''
  raise errors.NoFeasiblePlacementError(
    f'{len(stuck)} groups of ops can run on none of the devices of '
    f'--devices={devices.spec} ({", ".join(devices.names)}): '
    f'{"; ".join(reasons[:5])}{more}. Fetch something else with --fetches, '
    'or add a device that has the kernels.'
  )


def _reasons(op_group, allowed, support) -> dict[int, str]:
  """{group: why it may not use every device}, by its first such op."""
  reasons: dict[int, str] = {}
  for op in np.flatnonzero(~support.supported.all(axis=1)):
    group = int(op_group[op])
    if group not in reasons and not allowed[group].all():
      reasons[group] = support.reason(int(op))
  return reasons


def _names(
  graph: op_graph.OpGraph, op_group: np.ndarray, count: int
) -> tuple[str, ...]:
  cost = op_cost(graph)
  best: list[int] = [-1] * count
  for op, group in enumerate(op_group.tolist()):
    if best[group] < 0 or cost[op] > cost[best[group]]:
      best[group] = op
  return tuple(graph.names[op] for op in best)
