"""The group graph as graph partitioners take it, and a way back.

Vertices are groups, weighed by their time on the fastest device; an edge joins
two groups that exchange anything, weighed by its bytes in both directions. Both
are whole numbers from 1 to `LARGEST`, in proportion where that goes. Directions
and times are lost: a partitioner balances work and saves traffic, and does not
know that ops wait for each other.

Letters: `G` groups, `D` devices, `A` twice the number of edges.
"""

import dataclasses

import numpy as np

from placer.policies import planning_model

# Sums of a few thousand stay below 2**31.
LARGEST = 100_000


@dataclasses.dataclass(frozen=True, eq=False)
class WeightedGraph:
  """An undirected graph in compressed rows.

  Attributes:
    first: int64 `[G + 1]`, the neighbours of g are first[g] to first[g + 1].
    neighbours: int64 `[A]`.
    edge_weights: int64 `[A]`.
    vertex_weights: int64 `[G]`.
    device_weights: float64 `[D]`, the share of the work that a device should
      have: its speed over that of all.
  """

  first: np.ndarray
  neighbours: np.ndarray
  edge_weights: np.ndarray
  vertex_weights: np.ndarray
  device_weights: np.ndarray


def build(model: planning_model.PlanningModel) -> WeightedGraph:
  """The group graph of a model.

  Args:
    model: of G groups on D devices.

  Returns:
    The WeightedGraph.
  """
  graph = model.graph
  groups = len(graph.allowed)
  hold = np.where(np.isfinite(graph.hold_seconds), graph.hold_seconds, np.nan)
  seconds = np.bincount(
    graph.group,
    np.nan_to_num(np.nanmin(hold, axis=1, initial=np.inf), posinf=0.0),
    minlength=groups,
  )
  source, target, size = model.coarse.problem.group_edges
  low, high = np.minimum(source, target), np.maximum(source, target)
  pairs, inverse = np.unique(
    np.stack([low, high]).astype(np.int64), axis=1, return_inverse=True
  )
  total = np.bincount(inverse.ravel(), size, minlength=pairs.shape[1])
  weights = np.tile(_whole(total), 2)
  ends = np.concatenate([pairs, pairs[::-1]], axis=1)
  order = np.lexsort((ends[1], ends[0]))
  return WeightedGraph(
    first=np.searchsorted(ends[0][order], np.arange(groups + 1)),
    neighbours=ends[1][order],
    edge_weights=weights[order],
    vertex_weights=_whole(seconds),
    device_weights=_speeds(hold),
  )


def _whole(values: np.ndarray) -> np.ndarray:
  scaled = values / max(values.max(initial=0), 1e-30) * LARGEST
  return np.maximum(np.round(scaled), 1).astype(np.int64)


def _speeds(hold: np.ndarray) -> np.ndarray:
  """By the time of all ops that run everywhere."""
  everywhere = np.isfinite(hold).all(axis=1)
  seconds = hold[everywhere].sum(axis=0)
  if not (seconds > 0).all():
    return np.full(len(seconds), 1 / len(seconds))
  return (1 / seconds) / (1 / seconds).sum()
