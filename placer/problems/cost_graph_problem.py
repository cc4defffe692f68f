"""CostGraph and devices -> PlacementProblem with the file's own times.

    devices = own_devices(found, 'auto')        # the accelerators of the file
    problem = build(found, devices)             # or any simulated topology

Ops take the file's accelerator time on GPUs and its CPU time on CPUs, as they
are: no overhead is added, whatever the devices. Ops of a colour are one group.

The file's own devices are its accelerators, each with one op at a time and the
file's memory, and, if it has CPUs, one CPU device that runs as many ops at
once; the CPUs share the host's memory, so nothing moves between them. A tensor
goes between accelerators through host memory; an accelerator is busy for the
file's transfer time with each that it sends and each that it receives, once for
each other device. Tensors take no memory beside the sizes that the file gives.

On simulated devices the links and the memory are theirs, and tensors have the
file's bytes.
"""

import dataclasses

import numpy as np

from placer.core import cost_model
from placer.core import device as device_lib
from placer.core import errors
from placer.core import link_costs
from placer.core import op_graph
from placer.core import placement_problem
from placer.importers import cost_graph
from placer.problems import build as build_lib
from placer.problems import coarsening
from placer.simulation import simulated_devices

# Transfer times of the file become bytes at this rate; any would do.
_BYTES_PER_SECOND = float(2**31)
_STEM = '/job:localhost/replica:0/task:0/device:'


def own_devices(
  found: cost_graph.CostGraph, spec: str
) -> device_lib.DeviceTopology:
  """The devices that a file names.

  Args:
    found: the cost graph.
    spec: what `--devices` was.

  Returns:
    A simulated topology: GPU:0, GPU:1, …, then CPU:0 if there are CPUs.

  Raises:
    UsageError: the file names no devices.
  """
  own = found.own
  if own is None:
    raise errors.UsageError(
      f'{found.source!r} is a graph of measured costs that names no devices. '
      'Choose some to simulate: --devices=simulated:v100x4.'
    )
  devices = [
    device_lib.Device(
      f'{_STEM}GPU:{i}', own.accelerator_bytes, 'accelerator of the file'
    )
    for i in range(own.accelerators)
  ]
  if own.cpus:
    text = f'CPU of the file, {own.cpus} op{"s" * (own.cpus > 1)} at once'
    devices.append(device_lib.Device(f'{_STEM}CPU:0', None, text))
  busy = [1.0 if d.type == 'GPU' else 0.0 for d in devices]
  return device_lib.DeviceTopology(
    spec=spec,
    devices=tuple(devices),
    links=tuple(
      device_lib.Link(
        i, j, 0.0, _BYTES_PER_SECOND / max(busy[i] + busy[j], 1e-9)
      )
      for i in range(len(devices))
      for j in range(len(devices))
      if i != j
    ),
    stands_for=(
      "the file's own devices, simulated: every time is the result of a "
      'model, nothing was run.'
    ),
    is_simulated=True,
  )


def build(
  found: cost_graph.CostGraph,
  devices: device_lib.DeviceTopology,
  *,
  max_groups: int = build_lib.DEFAULT_MAX_GROUPS,
) -> placement_problem.PlacementProblem:
  """Makes the PlacementProblem of a cost graph.

  Args:
    found: the cost graph.
    devices: `own_devices`, or the topology of `--devices=simulated:…`.
    max_groups: how many groups there may be.

  Returns:
    A PlacementProblem with costs.

  Raises:
    NoFeasiblePlacementError: an op needs a CPU, and there is none.
    UsageError: a simulated device's file has a mistake.
  """
  is_own = not devices.spec.startswith(simulated_devices.PREFIX)
  graph = _with_own_bytes(found) if is_own else found.graph
  is_cpu = np.array([device.type == 'CPU' for device in devices.devices])
  supported = found.on_accelerator[:, np.newaxis] | is_cpu
  weight = np.where(
    found.on_accelerator, found.accelerator_seconds, found.cpu_seconds
  )
  op_group, allowed = coarsening.coarsen(
    graph,
    found.colour,
    build_lib.group_rows(supported, found.colour),
    weight,
    max_groups,
  )
  return placement_problem.PlacementProblem(
    graph=graph,
    devices=devices,
    op_group=op_group,
    allowed=allowed,
    group_names=_group_names(graph, op_group, weight),
    fixed_reasons={
      int(group): 'the file says that an accelerator cannot run it'
      for group in np.flatnonzero(~allowed.all(axis=1))
    },
    costs=_costs(found, graph, devices, supported, is_cpu, is_own),
  )


def _with_own_bytes(found: cost_graph.CostGraph) -> op_graph.OpGraph:
  """The graph, each tensor with the bytes that take the file's time."""
  size = np.rint(found.own.transfer_seconds * _BYTES_PER_SECOND)
  return dataclasses.replace(found.graph, tensor_bytes=size.astype(np.int64))


def _costs(
  found, graph, devices, supported, is_cpu, is_own
) -> cost_model.CostModel:
  seconds = np.where(
    is_cpu,
    found.cpu_seconds[:, np.newaxis],
    found.accelerator_seconds[:, np.newaxis],
  )
  if is_own:
    links = _own_links(is_cpu)
    concurrency = np.where(is_cpu, max(found.own.cpus, 1), 1)
  else:
    described = simulated_devices.parse(devices.spec)
    links = described.device_link_costs()
    concurrency = np.array([k.concurrency for k in described.descriptions])
  costs = cost_model.build(
    graph,
    devices,
    np.where(supported, seconds, np.inf),
    links=links,
    concurrency=concurrency,
    # They go through host memory; what the device holds is in its ops' sizes.
    host_output=is_own,
  )
  # Unlike a variable, an op here may keep bytes and make a new tensor.
  held = (costs.shares_tensor < 0) & (not found.keeps_outputs)
  return dataclasses.replace(
    costs, resident_bytes=np.where(held, graph.tensor_bytes, 0)
  )


def _own_links(is_cpu: np.ndarray) -> link_costs.LinkCosts:
  """Accelerators that are busy while they send and receive; nothing else."""
  count = len(is_cpu)
  zero = np.zeros((count, count))
  per_byte = np.where(is_cpu, 0.0, 1 / _BYTES_PER_SECOND)
  return link_costs.LinkCosts(
    latency_seconds=zero,
    message_seconds=zero,
    bytes_per_second=np.full((count, count), np.inf),
    send_seconds_per_message=zero,
    send_seconds_per_byte=zero + per_byte[:, np.newaxis],
    receive_seconds_per_message=zero,
    receive_seconds_per_byte=zero + per_byte,
    channel=np.arange(count * count, dtype=np.int32).reshape(count, count),
  )


def _group_names(
  graph: op_graph.OpGraph, op_group: np.ndarray, weight: np.ndarray
) -> tuple[str, ...]:
  """The name of the costliest op of each group, the first of equals."""
  order = np.lexsort((-weight, op_group))
  _, first = np.unique(op_group[order], return_index=True)
  return tuple(graph.names[op] for op in order[first])
