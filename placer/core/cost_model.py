"""CostModel: what the ops of one OpGraph cost on the devices of a search.

Letters: `N` ops, `T` tensors, `D` devices.

  op_seconds: float64 `[N, D]`, one run of an op on a device; inf where it
    cannot run there.
  gap_seconds: float64 `[N, D]`, how long the device stays busy after a run
    whose results are out already (launching the next kernel).
  op_runs: int64 `[N]`, runs of an op in a step: 1, or what its loops take.
  temporary_bytes: int64 `[N]`, memory an op holds only while it runs.
  resident_bytes: int64 `[T]`, memory that a tensor newly takes on the device
    of its op: 0 for handles, for what lies in persistent memory (constants,
    variables) and for tensors that share a buffer.
  shares_tensor: int32 `[T]`, the input of its op whose buffer a tensor shares
    (Identity, Reshape), or -1. The buffer lives as long as both.
  host_output: bool `[T, D]`, the tensor lies in host memory if its op runs on
    that device: it takes none of the device's memory and goes over
    `host_links`.
  tensor_sends: int64 `[T]`, how often a step sends a tensor whose reader is on
    another device: 1, or once an iteration.
  links: LinkCosts of tensors in device memory.
  host_links: LinkCosts of tensors in host memory.
  concurrency: int64 `[D]`, ops that can run at once: 1 for a core or a stream.
  threaded: bool `[D]`, whether ops run in the order, and take memory at the
    time, of TensorFlow's executor with more threads than slots; see
    `simulation/simulator.py`.
  slice_seconds: float64 `[D]`, how long an op has a slot before another one
    that waits has its turn; inf where ops run to their end.
  memory_bytes: int64 `[D]`, the limit, or `NO_LIMIT`.

Invariants, checked on construction: shapes agree, nothing is negative or NaN,
rates are positive, a tensor that shares a buffer takes no bytes of its own.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from placer.core import device as device_lib
from placer.core import link_costs
from placer.core import op_graph

NO_LIMIT = np.iinfo(np.int64).max

# Their outputs are their first data input, in the same buffer.
SHARING_TYPES = frozenset(
  """
  Bitcast CheckNumerics Enter Exit ExpandDims Identity LoopCond Merge
  NextIteration PlaceholderWithDefault PreventGradient ReadVariableOp RefEnter
  RefExit RefIdentity RefMerge RefNextIteration RefSwitch Reshape Squeeze
  StopGradient Switch
  """.split()
)


@dataclasses.dataclass(frozen=True, eq=False)
class CostModel:
  """What a step costs; see the module docstring."""

  op_seconds: np.ndarray
  gap_seconds: np.ndarray
  op_runs: np.ndarray
  temporary_bytes: np.ndarray
  resident_bytes: np.ndarray
  shares_tensor: np.ndarray
  host_output: np.ndarray
  tensor_sends: np.ndarray
  links: link_costs.LinkCosts
  host_links: link_costs.LinkCosts
  concurrency: np.ndarray
  threaded: np.ndarray
  slice_seconds: np.ndarray
  memory_bytes: np.ndarray

  def __post_init__(self) -> None:
    ops, devices = self.op_seconds.shape
    tensors = len(self.resident_bytes)
    for name, shape in (
      ('op_seconds', (ops, devices)),
      ('gap_seconds', (ops, devices)),
      ('op_runs', (ops,)),
      ('temporary_bytes', (ops,)),
      ('resident_bytes', (tensors,)),
      ('host_output', (tensors, devices)),
      ('tensor_sends', (tensors,)),
      ('concurrency', (devices,)),
      ('threaded', (devices,)),
      ('slice_seconds', (devices,)),
      ('memory_bytes', (devices,)),
    ):
      _check(name, getattr(self, name), shape)
    for name in ('op_runs', 'tensor_sends', 'concurrency'):
      if (getattr(self, name) < 1).any():
        raise ValueError(f'{name} must be at least 1.')
    if not (self.slice_seconds > 0).all():
      raise ValueError('slice_seconds must be positive; inf for no slices.')
    for name in ('links', 'host_links'):
      shape = getattr(self, name).channel.shape
      if shape != (devices, devices):
        raise ValueError(f'{name} is for {shape[0]} devices, not {devices}.')
    shares = self.shares_tensor
    if shares.shape != (tensors,) or (shares >= tensors).any():
      raise ValueError('shares_tensor needs the index of a tensor, or -1.')
    if self.resident_bytes[shares >= 0].any():
      raise ValueError('A tensor that shares a buffer has no resident_bytes.')

  @property
  def num_devices(self) -> int:
    """D."""
    return self.op_seconds.shape[1]

  @property
  def takes_turns(self) -> bool:
    """Whether there is a device on which ops do not run to their end."""
    return bool(np.isfinite(self.slice_seconds).any())

  def scaled(
    self, compute: Sequence[float] | float = 1.0, transfer: float = 1.0
  ) -> 'CostModel':
    """This model with other speeds, as a calibration finds them.

    Args:
      compute: factor on the time of ops, one for all or D, one a device.
      transfer: positive factor on all times of links.

    Returns:
      The scaled CostModel.
    """
    factor = np.asarray(compute, np.float64)
    return dataclasses.replace(
      self,
      op_seconds=self.op_seconds * factor,
      gap_seconds=self.gap_seconds * factor,
      links=self.links.scaled(transfer),
      host_links=self.host_links.scaled(transfer),
    )


def build(
  graph: op_graph.OpGraph,
  devices: device_lib.DeviceTopology,
  op_seconds: np.ndarray,
  *,
  links: link_costs.LinkCosts | None = None,
  host_links: link_costs.LinkCosts | None = None,
  gap_seconds: np.ndarray | float = 0.0,
  op_runs: np.ndarray | int = 1,
  temporary_bytes: np.ndarray | int = 0,
  host_output: np.ndarray | bool = False,
  concurrency: np.ndarray | int = 1,
  threaded: np.ndarray | bool = False,
  slice_seconds: np.ndarray | float = np.inf,
) -> CostModel:
  """A CostModel with defaults for all that is not known.

  Args:
    graph: N ops, T tensors.
    devices: D devices; their memory limits are the model's.
    op_seconds: float `[N]` where all devices are alike, or `[N, D]`.
    links: None takes the topology's.
    host_links: None takes `links`.
    gap_seconds: float, or what broadcasts to `[N, D]`.
    op_runs: int `[N]`, or one for all.
    temporary_bytes: int `[N]`, or one for all.
    host_output: bool `[T, D]`, or one for all.
    concurrency: int `[D]`, or one for all.
    threaded: bool `[D]`, or one for all.
    slice_seconds: float `[D]`, or one for all.

  Returns:
    The CostModel; buffers are shared as TensorFlow's kernels do.

  Raises:
    UsageError: no `links`, and the topology has none.
    ValueError: shapes do not fit.
  """
  ops, tensors, count = len(graph), len(graph.tensor_bytes), len(devices)
  seconds = np.asarray(op_seconds, np.float64)
  if seconds.ndim == 1:
    seconds = seconds[:, np.newaxis]
  links = links or link_costs.of_topology(devices)
  runs = _full(op_runs, (ops,), np.int64)
  shares = sharing(graph)
  resident = np.where(
    (graph.persistent_bytes[graph.tensor_source] > 0) | (shares >= 0),
    0,
    graph.tensor_bytes,
  )
  limits = [device.memory_bytes for device in devices.devices]
  return CostModel(
    op_seconds=_full(seconds, (ops, count), np.float64),
    gap_seconds=_full(gap_seconds, (ops, count), np.float64),
    op_runs=runs,
    temporary_bytes=_full(temporary_bytes, (ops,), np.int64),
    resident_bytes=resident.astype(np.int64),
    shares_tensor=shares,
    host_output=_full(host_output, (tensors, count), bool),
    tensor_sends=sends(graph, runs),
    links=links,
    host_links=host_links or links,
    concurrency=_full(concurrency, (count,), np.int64),
    threaded=_full(threaded, (count,), bool),
    slice_seconds=_full(slice_seconds, (count,), np.float64),
    memory_bytes=np.array(
      [NO_LIMIT if limit is None else limit for limit in limits], np.int64
    ),
  )


def sharing(graph: op_graph.OpGraph) -> np.ndarray:
  """int32 `[T]`: the tensor whose buffer each tensor shares, or -1.

  By op type (`SHARING_TYPES`); ops that *may* reuse an input's buffer, as
  element-wise ones do, are taken to make a new one.
  """
  first = np.full(len(graph), -1, np.int32)
  data = np.flatnonzero((graph.edge_tensor >= 0) & ~graph.edge_is_back)
  # Backwards, so that the first edge of an op is the one that stays.
  first[graph.edge_target[data[::-1]]] = graph.edge_tensor[data[::-1]]
  is_sharing = np.array([kind in SHARING_TYPES for kind in graph.types], bool)
  shares = np.where(is_sharing, first, -1)[graph.tensor_source]
  return shares.astype(np.int32)


def sends(graph: op_graph.OpGraph, op_runs: np.ndarray) -> np.ndarray:
  """int64 `[T]`: how often a tensor that leaves its device is sent a step.

  A loop invariant is sent once, and so is a loop's result: as often as both
  the source and the busiest reader run.

  Args:
    graph: N ops, T tensors.
    op_runs: int64 `[N]`.
  """
  most = np.ones(len(graph.tensor_bytes), np.int64)
  data = graph.edge_tensor >= 0
  np.maximum.at(most, graph.edge_tensor[data], op_runs[graph.edge_target[data]])
  return np.minimum(most, op_runs[graph.tensor_source])


def _full(value, shape: tuple[int, ...], dtype) -> np.ndarray:
  return np.broadcast_to(np.asarray(value, dtype), shape).copy()


def _check(name: str, value: np.ndarray, shape: tuple[int, ...]) -> None:
  if value.shape != shape:
    raise ValueError(f'{name} has shape {value.shape}, needs {shape}.')
  if value.size and not (value >= 0).all():
    raise ValueError(f'{name} has the value {np.min(value)}; it needs >= 0.')
