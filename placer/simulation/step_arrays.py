"""A problem and its costs as the arrays of the compiled simulator."""

import numpy as np

from placer.core import cost_model as cost_model_lib
from placer.core import link_costs
from placer.core import placement_problem
from placer.simulation import records
from placer.simulation import signal_graph


def build(
  problem: placement_problem.PlacementProblem,
  signals: signal_graph.SignalGraph,
  costs: cost_model_lib.CostModel,
) -> records.Step:
  """Makes the Step of a problem.

  Args:
    problem: G groups of N ops on D devices.
    signals: of the problem's graph.
    costs: of the same graph and devices.

  Returns:
    The Step.

  Raises:
    ValueError: the costs are of another graph, or of other devices.
  """
  graph = problem.graph
  _check_sizes(problem, costs)
  _check_sharing(graph, signals, costs)
  inputs, first_input = _memory_inputs(graph, signals, costs)
  ops = np.zeros(len(graph) + 1, records.OP)
  ops['first_signal'] = signals.first_signal
  ops['first_input'] = first_input
  starts = np.zeros(len(graph), records.OP_START)
  starts['group'] = problem.op_group
  starts['num_inputs'] = np.diff(signals.first_input)
  starts['persistent_bytes'] = graph.persistent_bytes
  return records.Step(
    ops=ops,
    op_starts=starts,
    op_costs=_op_costs(graph, signals, costs),
    signals=_signals(graph, signals, costs),
    in_host=_in_host(signals, costs),
    readers=signals.readers,
    inputs=inputs,
    sources=np.flatnonzero(starts['num_inputs'] == 0).astype(np.int32),
    links=np.stack([_links(costs.links), _links(costs.host_links)]),
    devices=_devices(costs),
    allowed=np.ascontiguousarray(problem.allowed),
  )


def _check_sizes(problem, costs) -> None:
  found = (*costs.op_seconds.shape, len(costs.resident_bytes))
  needed = (len(problem.graph), len(problem.devices))
  needed += (len(problem.graph.tensor_bytes),)
  if found != needed:
    text = '{} ops, {} devices and {} tensors'
    raise ValueError(
      f'The cost model is of {text.format(*found)}; the problem has '
      f'{text.format(*needed)}.'
    )


def _check_sharing(graph, signals, costs) -> None:
  tensor = np.flatnonzero(costs.shares_tensor >= 0)
  if not len(tensor):
    return
  shared = signals.of_tensors(len(graph.tensor_bytes))[
    costs.shares_tensor[tensor]
  ]
  reader = np.repeat(np.arange(len(graph)), np.diff(signals.first_input))
  edges = signals.inputs.astype(np.int64) * len(graph) + reader
  wanted = shared.astype(np.int64) * len(graph) + graph.tensor_source[tensor]
  wrong = tensor[(shared < 0) | ~np.isin(wanted, edges)]
  if len(wrong):
    raise ValueError(
      f'Tensor {wrong[0]} of {graph.names[graph.tensor_source[wrong[0]]]!r} '
      'shares the buffer of a tensor that this op does not read.'
    )


def _op_costs(graph, signals, costs) -> np.ndarray:
  """OP_COST `[N, D]`."""
  result = np.zeros(costs.op_seconds.shape, records.OP_COST)
  runs = costs.op_runs[:, np.newaxis]
  result['seconds'] = costs.op_seconds * runs + costs.gap_seconds * (runs - 1)
  result['gap_seconds'] = costs.gap_seconds
  in_device = np.where(
    costs.host_output, 0, costs.resident_bytes[:, np.newaxis]
  )
  is_unread = signals.of_tensors(len(graph.tensor_bytes)) < 0
  for name, rows in (('start_bytes', ...), ('end_bytes', is_unread)):
    result[name] = costs.temporary_bytes[:, np.newaxis]
    np.add.at(result[name], graph.tensor_source[rows], in_device[rows])
  return result


def _signals(graph, signals, costs) -> np.ndarray:
  """SIGNAL `[T + 1]`."""
  result = np.zeros(len(signals) + 1, records.SIGNAL)
  result['first_reader'] = signals.first_reader
  rows = result[:-1]
  rows['source'] = signals.source
  rows['shares'] = -1
  rows['sends'] = control_sends(signals, costs.op_runs)
  data = signals.tensor >= 0
  tensor = signals.tensor[data]
  shares = costs.shares_tensor[tensor]
  of_tensors = signals.of_tensors(len(graph.tensor_bytes))
  if len(of_tensors):
    rows['shares'][data] = np.where(shares >= 0, of_tensors[shares], -1)
  sizes, sends = graph.tensor_bytes[tensor], costs.tensor_sends[tensor]
  rows['may_be_in_host'][data] = costs.host_output[tensor].any(axis=1)
  rows['sends'][data] = sends
  rows['sent_bytes'][data] = sizes * sends
  rows['resident_bytes'][data] = costs.resident_bytes[tensor]
  rows['received_bytes'][data] = sizes
  return result


def control_sends(
  signals: signal_graph.SignalGraph, op_runs: np.ndarray
) -> np.ndarray:
  """int64 `[T]`: how often a step sends a signal, by the runs of its ops.

  Args:
    signals: T signals.
    op_runs: int64 `[N]`.

  Returns:
    As often as the source and the busiest reader run; tensors have their own
    number, `CostModel.tensor_sends`.
  """
  most = np.ones(len(signals), np.int64)
  if len(signals):
    most = np.maximum.reduceat(
      op_runs[signals.readers], signals.first_reader[:-1]
    )
  return np.minimum(most, op_runs[signals.source])


def _in_host(signals, costs) -> np.ndarray:
  """bool `[T, D]`."""
  result = np.zeros((len(signals), costs.num_devices), bool)
  data = signals.tensor >= 0
  result[data] = costs.host_output[signals.tensor[data]]
  return result


def _memory_inputs(graph, signals, costs) -> tuple[np.ndarray, np.ndarray]:
  """The inputs that hold memory, or a buffer of another; by op."""
  shares = costs.shares_tensor
  matters = (
    (graph.tensor_bytes > 0) | (costs.resident_bytes > 0) | (shares >= 0)
  )
  matters[shares[shares >= 0]] = True
  tensor = signals.tensor[signals.inputs]
  keep = tensor >= 0
  keep[keep] = matters[tensor[keep]]
  before = np.concatenate([[0], np.cumsum(keep)])
  return signals.inputs[keep], before[signals.first_input]


def _links(costs: link_costs.LinkCosts) -> np.ndarray:
  """LINK `[D, D]`."""
  result = np.zeros(costs.channel.shape, records.LINK)
  for name in records.LINK.names:
    result[name] = getattr(costs, name)
  return result


def _devices(costs: cost_model_lib.CostModel) -> np.ndarray:
  """DEVICE `[D]`."""
  result = np.zeros(costs.num_devices, records.DEVICE)
  result['concurrency'] = costs.concurrency
  result['threaded'] = costs.threaded
  result['slice_seconds'] = costs.slice_seconds
  result['memory_bytes'] = costs.memory_bytes
  return result
