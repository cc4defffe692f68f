"""Costs without running: the CostModel of any graph on any devices.

Simulated devices have descriptions, and so their costs. A real device is taken
to be like the description that its name or type fits best:

    a GPU whose name has 'K80', 'V100', 'A100' or 'H100'    that one
    another GPU                                             v100
    a CPU, or a worker process                              cpu_core

with its own memory limit, and with the measured latency and bandwidth of links
where there are any. That is good for a first plan only: profiles and
measurements correct it.
"""

import dataclasses

from placer.core import cost_model
from placer.core import device as device_lib
from placer.core import link_costs
from placer.core import op_graph
from placer.simulation import device_description
from placer.simulation import roofline
from placer.simulation import simulated_devices

_CPU = 'cpu_core'
_GPU = 'v100'


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
  return dataclasses.replace(
    made,
    links=_measured(made.links, devices),
    host_links=_measured(made.host_links, devices),
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


def _measured(
  links: link_costs.LinkCosts, devices: device_lib.DeviceTopology
) -> link_costs.LinkCosts:
  """The links, with what was measured of some of them."""
  latency, rate = links.latency_seconds.copy(), links.bytes_per_second.copy()
  message = links.message_seconds.copy()
  load = links.send_seconds_per_message.copy()
  load_bytes = links.send_seconds_per_byte.copy()
  for link in devices.links:
    pair = link.source, link.target
    # Good splits keep their devices busy.
    latency[pair] = link.busy_latency_seconds or link.latency_seconds
    rate[pair] = link.bytes_per_second
    message[pair] = 0.0  # it is in the measured latency
    load[pair], load_bytes[pair] = link.load_seconds, link.load_seconds_per_byte
  return dataclasses.replace(
    links,
    latency_seconds=latency,
    bytes_per_second=rate,
    message_seconds=message,
    send_seconds_per_message=load,
    send_seconds_per_byte=load_bytes,
    receive_seconds_per_message=load,
    receive_seconds_per_byte=load_bytes,
  )
