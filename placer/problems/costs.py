"""Costs without running: the CostModel of any graph on any devices.

Simulated devices have descriptions, and so their costs. A real device is taken
to be like the description that its name or type fits best:

    a GPU whose name has 'K80', 'V100', 'A100' or 'H100'    that one
    another GPU                                             v100
    a CPU, or a worker process                              cpu_core

with its own memory limit, the measured latency and bandwidth of links where
there are any, and, if it is a CPU, TensorFlow's threads. That is good for a
first plan only: profiles and measurements correct it.
"""

import dataclasses

import numpy as np

from placer.core import cost_model
from placer.core import device as device_lib
from placer.core import link_costs
from placer.core import op_graph
from placer.simulation import device_description
from placer.simulation import roofline
from placer.simulation import simulated_devices

_CPU = 'cpu_core'
_GPU = 'v100'
# How long a thread of a worker computes before another one of the same core has
# its turn; all its ready ops have threads. Linux (EEVDF, 6.6 and later): 1.4 ms
# on 2 cores, 2.8 ms on 8, rounded up to its tick. With 0.7 to 4 ms errors on
# Inception-V3 and rnnlm are alike, without slices up to 16 % where a device
# waits for one of several ops on another (2 cores of AMD EPYC, 2026-12-07: an
# op beside three others on its core took 19 ms instead of 5).
_SLICE_SECONDS = 2e-3


def analytic(
  graph: op_graph.OpGraph, devices: device_lib.DeviceTopology
) -> cost_model.CostModel:
  """The roofline costs of a graph; see the module docstring.

  Args:
    graph: N ops.
    devices: D devices, simulated or not, links measured or not.

  Returns:
    The CostModel.

  Raises:
    UsageError: a simulated device's file has a mistake.
  """
  if devices.spec.startswith(simulated_devices.PREFIX):
    return roofline.cost_model_of(graph, devices)
  kinds = [
    device_description.load(likeness(device)) for device in devices.devices
  ]
  made = roofline.cost_model_on(
    graph, devices, simulated_devices.connect(devices.spec, kinds)
  )
  is_cpu = np.array([device.type == 'CPU' for device in devices.devices])
  return dataclasses.replace(
    made,
    threaded=is_cpu,
    slice_seconds=np.where(is_cpu, _SLICE_SECONDS, np.inf),
    links=link_costs.with_measured(made.links, devices.links),
    host_links=link_costs.with_measured(made.host_links, devices.links),
  )


def likeness(device: device_lib.Device) -> str:
  """The name of the description that fits a real device best."""
  if device.type == 'CPU':
    return _CPU
  words = device.description.lower().replace('-', ' ').split()
  for name in device_description.names():
    if name != _CPU and name in words:
      return name
  return _GPU
