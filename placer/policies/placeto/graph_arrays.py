"""GraphArrays: one problem as the arrays that Placeto's networks read.

Letters: `G` groups, `D` devices, `E` edges between groups. Times are in units
of `unit_seconds`, the mean time of a group on its fastest device, so that
graphs of all sizes and devices of all speeds look alike.

  unit_seconds: float.
  seconds: float32 `[G]`, time of each group on its fastest device.
  output_bytes: float32 `[G]`, all that a group puts out.
  nodes: float32 `[G, NODE_FEATURES]`, what does not depend on a placement.
  senders, receivers: int32 `[E]`.
  edges: float32 `[E, EDGE_FEATURES]`: log of the time that the edge's tensors
    take on an average link, and of their number.
  ancestors: bool `[G, G]`, row v has the groups from which v can be reached.
  descendants: bool `[G, G]`, row v has those that v can reach. In a cycle a
    group is both. Never v itself.
  cost: float32 `[G, D]`, units; 0 where a group cannot run.
  allowed: bool `[G, D]`.
  volume, messages: float32 `[G, G]`, from row to column: bytes, and number of
    tensors, in units that they take on an average link.
  per_volume, per_message: float32 `[D, D]`, what those take on each link as a
    multiple of the average; 0 on the diagonal.
  memory: float32 `[G]`, what a group keeps or puts out, as a share of the
    smallest limit; 0 where there is none.
  room: float32 `[D]`, limits as multiples of the smallest one.
"""

import dataclasses

import numpy as np

from placer.core import cost_model
from placer.policies import planning_graph
from placer.policies.placeto import objective as objective_lib

NODE_FEATURES = 14
EDGE_FEATURES = 2
_MOST_ROOM = 100.0


@dataclasses.dataclass(frozen=True, eq=False)
class GraphArrays:
  """Arrays of one problem; see the module docstring."""

  unit_seconds: float
  seconds: np.ndarray
  output_bytes: np.ndarray
  nodes: np.ndarray
  senders: np.ndarray
  receivers: np.ndarray
  edges: np.ndarray
  ancestors: np.ndarray
  descendants: np.ndarray
  cost: np.ndarray
  allowed: np.ndarray
  volume: np.ndarray
  messages: np.ndarray
  per_volume: np.ndarray
  per_message: np.ndarray
  memory: np.ndarray
  room: np.ndarray

  @property
  def num_groups(self) -> int:
    """G."""
    return len(self.allowed)

  @property
  def num_devices(self) -> int:
    """D."""
    return self.allowed.shape[1]


def build(objective: objective_lib.Objective) -> GraphArrays:
  """The GraphArrays of a problem.

  Args:
    objective: of G groups, at least one, on D devices.

  Returns:
    The GraphArrays.
  """
  problem, costs = objective.problem, objective.costs
  plan = planning_graph.build(problem, costs)
  held = np.where(np.isfinite(plan.hold_seconds), plan.hold_seconds, 0)
  cost = _by_group(plan.group, held + plan.gap_seconds, problem.num_groups)
  seconds = np.where(plan.allowed, cost, np.inf).min(axis=1)
  unit = float(seconds.mean()) or 1.0
  links = _links(costs)
  size, number = _pairs(problem, costs)
  volume, messages = size * links['byte'] / unit, number * links['one'] / unit
  senders, receivers = np.nonzero(number)
  ancestors, descendants = _reachable(number > 0)
  limits = costs.memory_bytes.astype(np.float64)
  smallest = limits.min()
  is_limited = smallest < cost_model.NO_LIMIT
  memory = plan.persistent_bytes + plan.output_bytes
  arrays = {
    'cost': np.where(plan.allowed, cost / unit, 0),
    'volume': volume,
    'messages': messages,
    'per_volume': links['per_volume'],
    'per_message': links['per_message'],
    'memory': memory / smallest if is_limited else np.zeros(len(memory)),
    'room': np.minimum(limits / smallest, _MOST_ROOM),
    'edges': np.log1p(
      np.stack([volume[senders, receivers], number[senders, receivers]], 1)
    ),
  }
  arrays = {name: value.astype(np.float32) for name, value in arrays.items()}
  arrays['nodes'] = _nodes(plan, arrays, ancestors, descendants)
  return GraphArrays(
    unit_seconds=unit,
    seconds=seconds.astype(np.float32),
    output_bytes=plan.output_bytes.astype(np.float32),
    senders=senders.astype(np.int32),
    receivers=receivers.astype(np.int32),
    ancestors=ancestors,
    descendants=descendants,
    allowed=plan.allowed,
    **arrays,
  )


def _nodes(plan, arrays, ancestors, descendants) -> np.ndarray:
  """float32 `[G, NODE_FEATURES]`."""
  groups, devices = plan.allowed.shape
  high = np.where(plan.allowed, arrays['cost'], -np.inf).max(axis=1)
  low = np.where(plan.allowed, arrays['cost'], np.inf).min(axis=1)
  sent = arrays['volume'] + arrays['messages']
  total = max(low.sum(), 1e-9)
  before, after = ancestors @ low / total, descendants @ low / total
  from_start, to_end = _levels(plan)
  columns = [
    np.log1p(low),
    np.log1p(high) - np.log1p(low),
    np.log1p(sent.sum(axis=1)),
    np.log1p(sent.sum(axis=0)),
    np.log1p((sent > 0).sum(axis=1)) / 3,
    np.log1p((sent > 0).sum(axis=0)) / 3,
    before,
    after,
    1 - before - after,
    from_start,
    to_end,
    arrays['memory'] * groups / 10,
    plan.allowed.sum(axis=1) / devices,
    np.full(groups, np.log2(devices) / 3),
  ]
  return np.clip(np.stack(columns, axis=1), -10, 10).astype(np.float32)


def _levels(plan) -> tuple[np.ndarray, np.ndarray]:
  """Two float64 `[G]`: the longest way to each group and from it to the end.

  Its own time counts in both; transfers count as if devices were random; as
  shares of the longest way through the graph.
  """
  hold = np.where(plan.op_allowed, plan.hold_seconds, np.inf).min(axis=1)
  hold = np.where(np.isfinite(hold), hold, 0)
  delay = plan.delay_seconds.mean(axis=(1, 2)).tolist()
  ops = range(len(plan))
  source = plan.signals.source.tolist()
  start, end = hold.tolist(), hold.tolist()
  for op in ops:
    arrivals = [start[source[s]] + delay[s] for s in plan.inputs[op]]
    start[op] += max(arrivals, default=0)
  for op in reversed(ops):
    rests = [
      delay[s] + end[reader]
      for s in plan.outputs[op]
      for reader in plan.readers[s]
    ]
    end[op] += max(rests, default=0)
  longest = max(*start, 1e-12)
  levels = np.zeros((2, len(plan.allowed)))
  np.maximum.at(levels[0], plan.group, np.array(start) / longest)
  np.maximum.at(levels[1], plan.group, np.array(end) / longest)
  return levels[0], levels[1]


def _by_group(group: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
  """float64 `[count, D]`: sums of the rows of each group."""
  result = np.zeros((count, values.shape[1]))
  np.add.at(result, group, values)
  return result


def _pairs(problem, costs) -> tuple[np.ndarray, np.ndarray]:
  """Bytes and number of the tensors from row to column, float64 `[G, G]`.

  Control edges of an op count as one tensor of no bytes; each send of a loop
  counts.
  """
  graph = problem.graph
  keep = ~graph.edge_is_back
  source = graph.edge_source[keep].astype(np.int64)
  tensor = graph.edge_tensor[keep].astype(np.int64)
  tensors = len(graph.tensor_bytes)
  number = np.where(tensor >= 0, tensor, tensors + source)
  rows = np.stack(
    [
      problem.op_group[source].astype(np.int64),
      problem.op_group[graph.edge_target[keep]].astype(np.int64),
      number,
    ]
  )
  rows = np.unique(rows[:, rows[0] != rows[1]], axis=1)
  ops = len(graph)
  sends = np.concatenate([costs.tensor_sends, np.ones(ops, np.int64)])
  sizes = np.concatenate([graph.tensor_bytes, np.zeros(ops, np.int64)])
  shape = (problem.num_groups, problem.num_groups)
  size, count = np.zeros(shape), np.zeros(shape)
  np.add.at(size, (rows[0], rows[1]), (sends * sizes)[rows[2]])
  np.add.at(count, (rows[0], rows[1]), sends[rows[2]])
  return size, count


def _links(costs: cost_model.CostModel) -> dict[str, np.ndarray]:
  """Seconds a byte and a message on the average link, and the ratios to it."""
  link = costs.links
  away = ~np.eye(costs.num_devices, dtype=bool)
  byte = (
    1 / np.where(away, link.bytes_per_second, np.inf)
    + link.send_seconds_per_byte
    + link.receive_seconds_per_byte
  )
  one = (
    link.latency_seconds
    + link.message_seconds
    + link.send_seconds_per_message
    + link.receive_seconds_per_message
  )
  found = {}
  for name, matrix, value in (
    ('byte', 'per_volume', byte),
    ('one', 'per_message', one),
  ):
    mean = float(value[away].mean()) if away.any() else 0.0
    found[name] = mean
    found[matrix] = np.where(away, value / (mean or 1.0), 0.0)
  return found


def _reachable(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Ancestors and descendants of each group, bool `[G, G]`."""
  reach, before = edges.copy(), -1
  while reach.sum() != before:
    before = reach.sum()
    wide = reach.astype(np.float32)
    reach |= wide @ wide > 0
  np.fill_diagonal(reach, False)
  return reach.T.copy(), reach
