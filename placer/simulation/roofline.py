"""What ops cost on described devices, by the roofline model.

An op takes max(flops / rate, bytes touched / memory rate), both rates times
the efficiency of the device, and an overhead. It touches its inputs and its
outputs. Nothing at all is done, and taken, by ops without inputs (constants,
variables' handles, fed tensors), by those whose output is their input's buffer
(Identity, Reshape) and by those that look at a shape only.
"""

import numpy as np

from placer.core import cost_model
from placer.core import device as device_lib
from placer.core import errors
from placer.core import op_graph
from placer.simulation import device_description
from placer.simulation import simulated_devices

_LOOK_AT_SHAPES = frozenset(('Rank', 'Shape', 'ShapeN', 'Size'))


def roofline(
  graph: op_graph.OpGraph,
  description: device_description.DeviceDescription,
  dtype: str = 'float32',
) -> np.ndarray:
  """The time of each op on a device.

  Args:
    graph: N ops.
    description: of the device.
    dtype: what its arithmetic is done in.

  Returns:
    float64 `[N]`, seconds.

  Raises:
    UsageError: the description has no rate for `dtype`.
  """
  rates = description.flops_per_second
  if dtype not in rates:
    raise errors.UsageError(
      f'The simulated device {description.name} has no rate for {dtype}. It '
      f'has: {", ".join(rates)}.'
    )
  touched = touched_bytes(graph)
  seconds = np.maximum(
    graph.flops / rates[dtype], touched / description.memory_bytes_per_second
  )
  overhead = np.where(does_work(graph), description.op_overhead_seconds, 0.0)
  return seconds / description.efficiency + overhead


def touched_bytes(graph: op_graph.OpGraph) -> np.ndarray:
  """float64 `[N]`: the bytes that each op reads and writes."""
  data = (graph.edge_tensor >= 0) & ~graph.edge_is_back
  pairs = np.unique(
    np.stack([graph.edge_target[data], graph.edge_tensor[data]]), axis=1
  )
  read = np.bincount(
    pairs[0], graph.tensor_bytes[pairs[1]], minlength=len(graph)
  )
  return np.where(does_work(graph), read + graph.output_bytes, 0.0)


def does_work(graph: op_graph.OpGraph) -> np.ndarray:
  """bool `[N]`: which ops take any time; see the module docstring."""
  data = (graph.edge_tensor >= 0) & ~graph.edge_is_back
  has_inputs = np.zeros(len(graph), bool)
  has_inputs[graph.edge_target[data]] = True
  idle = cost_model.SHARING_TYPES | _LOOK_AT_SHAPES
  is_idle = np.array([kind in idle for kind in graph.types], bool)
  return (has_inputs & ~is_idle) | (graph.flops > 0)


def cost_model_of(
  graph: op_graph.OpGraph,
  devices: device_lib.DeviceTopology,
  dtype: str = 'float32',
) -> cost_model.CostModel:
  """The CostModel of a graph on simulated devices.

  Args:
    graph: N ops.
    devices: of `--devices=simulated:…`; its memory limits count.
    dtype: what arithmetic is done in.

  Returns:
    The CostModel.

  Raises:
    UsageError: `devices` are not simulated ones, or have no rate for `dtype`.
  """
  simulated = simulated_devices.parse(devices.spec)
  return cost_model_on(graph, devices, simulated, dtype)


def cost_model_on(
  graph: op_graph.OpGraph,
  devices: device_lib.DeviceTopology,
  described: simulated_devices.SimulatedDevices,
  dtype: str = 'float32',
) -> cost_model.CostModel:
  """The CostModel of a graph on any devices of which there are descriptions.

  Args:
    graph: N ops.
    devices: D devices; their memory limits count.
    described: the descriptions of the D devices, and their links.
    dtype: what arithmetic is done in.

  Returns:
    The CostModel.

  Raises:
    UsageError: a description has no rate for `dtype`.
  """
  kinds = described.descriptions
  columns = {kind.name: roofline(graph, kind, dtype) for kind in kinds}
  gaps = np.array([kind.op_gap_seconds for kind in kinds])
  return cost_model.build(
    graph,
    devices,
    np.stack([columns[kind.name] for kind in kinds], axis=1),
    links=described.device_link_costs(),
    host_links=described.host_link_costs(),
    gap_seconds=np.where(does_work(graph)[:, np.newaxis], gaps, 0.0),
    concurrency=np.array([kind.concurrency for kind in kinds]),
  )
