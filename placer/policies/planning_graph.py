"""PlanningGraph: ops and signals with their costs, as list schedulers read it.

Letters: `N` ops, `D` devices, `G` groups, `S` signals (`signal_graph.py`: a
tensor that somebody reads, or all control edges of an op).

  group: int32 `[N]`, the group of each op.
  allowed: bool `[G, D]`, where a group may be and all its ops can run; a row
    without such a device is the problem's own.
  hold_seconds: float64 `[N, D]`, from the start of an op to its results, all
    runs of a step; inf where it cannot run.
  gap_seconds: float64 `[N, D]`, how long its slot stays busy after that.
  slots: int64 `[D]`, ops at once.
  signals: the SignalGraph; `inputs[op]` are the signals that an op reads,
    `outputs[op]` those that it makes.
  send_seconds, wire_seconds, latency_seconds, receive_seconds: float64
    `[S, D, D]`, the stages of a signal from row to column, 0 on the diagonal:
    source busy, channel busy, on the way, target busy.
  delay_seconds: float64 `[S, D, D]`, their sum.
  channel: int32 `[S, D, D]`, the channel that the signal takes.
  persistent_bytes, output_bytes: int64 `[G]`, what a group keeps, and all that
    its ops put out.
"""

import dataclasses
import functools

import numpy as np

from placer.core import cost_model as cost_model_lib
from placer.core import placement_problem
from placer.simulation import signal_graph
from placer.simulation import step_arrays


@dataclasses.dataclass(frozen=True, eq=False)
class PlanningGraph:
  """Ops and signals with their costs; see the module docstring."""

  group: np.ndarray
  allowed: np.ndarray
  hold_seconds: np.ndarray
  gap_seconds: np.ndarray
  slots: np.ndarray
  signals: signal_graph.SignalGraph
  send_seconds: np.ndarray
  wire_seconds: np.ndarray
  latency_seconds: np.ndarray
  receive_seconds: np.ndarray
  channel: np.ndarray
  persistent_bytes: np.ndarray
  output_bytes: np.ndarray

  def __len__(self) -> int:
    return len(self.group)

  @property
  def num_devices(self) -> int:
    """D."""
    return len(self.slots)

  @functools.cached_property
  def delay_seconds(self) -> np.ndarray:
    """float64 `[S, D, D]`; see the module docstring."""
    return (
      self.send_seconds
      + self.wire_seconds
      + self.latency_seconds
      + self.receive_seconds
    )

  @functools.cached_property
  def op_allowed(self) -> np.ndarray:
    """bool `[N, D]`: where each op may be."""
    return self.allowed[self.group]

  @functools.cached_property
  def inputs(self) -> tuple[tuple[int, ...], ...]:
    """N tuples of signals."""
    return _rows(self.signals.inputs, self.signals.first_input)

  @functools.cached_property
  def outputs(self) -> tuple[tuple[int, ...], ...]:
    """N tuples of signals."""
    return _rows(np.arange(len(self.signals)), self.signals.first_signal)

  @functools.cached_property
  def readers(self) -> tuple[tuple[int, ...], ...]:
    """S tuples of ops."""
    return _rows(self.signals.readers, self.signals.first_reader)


def build(
  problem: placement_problem.PlacementProblem,
  costs: cost_model_lib.CostModel,
) -> PlanningGraph:
  """Makes the PlanningGraph of a problem.

  Args:
    problem: G groups of N ops on D devices.
    costs: of the same graph and devices.

  Returns:
    The PlanningGraph.

  Raises:
    ValueError: an edge goes backwards without being marked.
  """
  graph = problem.graph
  signals = signal_graph.build(graph)
  runs = costs.op_runs[:, np.newaxis]
  hold = costs.op_seconds * runs + costs.gap_seconds * (runs - 1)
  groups = problem.num_groups
  return PlanningGraph(
    group=problem.op_group,
    allowed=_allowed(problem, hold),
    hold_seconds=hold,
    gap_seconds=costs.gap_seconds,
    slots=costs.concurrency,
    signals=signals,
    persistent_bytes=_sum(problem.op_group, graph.persistent_bytes, groups),
    output_bytes=_sum(
      problem.op_group[graph.tensor_source], costs.resident_bytes, groups
    ),
    **_stages(graph, signals, costs),
  )


def _allowed(problem, hold: np.ndarray) -> np.ndarray:
  runs = np.ones(problem.allowed.shape, bool)
  np.logical_and.at(runs, problem.op_group, np.isfinite(hold))
  allowed = problem.allowed & runs
  return np.where(allowed.any(axis=1, keepdims=True), allowed, problem.allowed)


def _stages(graph, signals, costs) -> dict[str, np.ndarray]:
  """The fields of shape `[S, D, D]`."""
  data = signals.tensor >= 0
  tensor = signals.tensor[data]
  sends = step_arrays.control_sends(signals, costs.op_runs)
  sends[data] = costs.tensor_sends[tensor]
  size = np.zeros(len(signals))
  size[data] = graph.tensor_bytes[tensor]
  in_host = np.zeros((len(signals), costs.num_devices), bool)
  in_host[data] = costs.host_output[tensor]
  messages = sends[:, np.newaxis, np.newaxis]
  total = (sends * size)[:, np.newaxis, np.newaxis]
  away = ~np.eye(costs.num_devices, dtype=bool)

  def pick(value) -> np.ndarray:
    """Of the link that a signal takes from each source."""
    from_host, from_device = value(costs.host_links), value(costs.links)
    return np.where(in_host[:, :, np.newaxis], from_host, from_device)

  return {
    'send_seconds': away
    * pick(
      lambda link: (
        messages * link.send_seconds_per_message
        + total * link.send_seconds_per_byte
      )
    ),
    'wire_seconds': away
    * pick(
      lambda link: (
        messages * link.message_seconds
        + total / np.where(away, link.bytes_per_second, np.inf)
      )
    ),
    'latency_seconds': away
    * pick(lambda link: messages * link.latency_seconds),
    'receive_seconds': away
    * pick(
      lambda link: (
        messages * link.receive_seconds_per_message
        + total * link.receive_seconds_per_byte
      )
    ),
    'channel': pick(lambda link: np.broadcast_to(link.channel, away.shape)),
  }


def _rows(values: np.ndarray, first: np.ndarray) -> tuple[tuple[int, ...], ...]:
  values, first = values.tolist(), first.tolist()
  return tuple(
    tuple(values[start:end])
    for start, end in zip(first[:-1], first[1:], strict=True)
  )


def _sum(index: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
  result = np.zeros(count, np.int64)
  np.add.at(result, index, values)
  return result
