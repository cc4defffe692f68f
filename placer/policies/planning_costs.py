"""The CostModel that a planner plans on, also where nobody has made one.

A problem's own `costs` come first; simulated devices have those of their
description. For all else they are assumed: ops by the roofline of `cpu_core`
on CPUs and of `v100` on other devices, links as measured, those that were not
by `estimate.Rates`. Such a model ranks placements; its seconds are a guess.
"""

import numpy as np

from placer.core import cost_model
from placer.core import device as device_lib
from placer.core import link_costs
from placer.core import placement_problem
from placer.policies import estimate
from placer.simulation import device_description
from placer.simulation import roofline
from placer.simulation import simulated_devices

_KINDS = {'CPU': 'cpu_core'}
_OTHER_KIND = 'v100'


def of_problem(
  problem: placement_problem.PlacementProblem,
) -> cost_model.CostModel:
  """The CostModel to plan a problem with.

  Args:
    problem: N ops on D devices.

  Returns:
    `problem.costs`, or an analytic model where that is None.
  """
  if problem.costs is not None:
    return problem.costs
  if problem.devices.spec.startswith(simulated_devices.PREFIX):
    return roofline.cost_model_of(problem.graph, problem.devices)
  return assumed(problem)


def assumed(
  problem: placement_problem.PlacementProblem,
  rates: estimate.Rates = estimate.Rates(),
) -> cost_model.CostModel:
  """A CostModel from shapes, kinds of devices and measured links.

  Args:
    problem: N ops on D devices.
    rates: for links that were not measured, and for the CPU time of sending.

  Returns:
    The CostModel.
  """
  graph = problem.graph
  kinds = [
    device_description.load(_KINDS.get(device.type, _OTHER_KIND))
    for device in problem.devices.devices
  ]
  columns = {kind.name: roofline.roofline(graph, kind) for kind in kinds}
  gaps = np.array([kind.op_gap_seconds for kind in kinds])
  links = _links(problem.devices, rates)
  return cost_model.build(
    graph,
    problem.devices,
    np.stack([columns[kind.name] for kind in kinds], axis=1),
    links=links,
    host_links=links,
    gap_seconds=np.where(roofline.does_work(graph)[:, np.newaxis], gaps, 0.0),
    concurrency=np.array([kind.concurrency for kind in kinds]),
  )


def _links(
  devices: device_lib.DeviceTopology, rates: estimate.Rates
) -> link_costs.LinkCosts:
  count = len(devices)
  latency = np.full((count, count), rates.link_latency_seconds)
  rate = np.full((count, count), rates.link_bytes_per_second)
  for link in devices.links:
    latency[link.source, link.target] = link.latency_seconds
    rate[link.source, link.target] = link.bytes_per_second
  # Sending takes CPU time; GPUs copy by engines of their own.
  is_cpu = np.array([device.type == 'CPU' for device in devices.devices])
  by_end = {
    'send': np.repeat(is_cpu[:, np.newaxis], count, axis=1),
    'receive': np.repeat(is_cpu[np.newaxis], count, axis=0),
  }
  services = {}
  for end, busy in by_end.items():
    services[f'{end}_seconds_per_message'] = busy * rates.send_seconds
    services[f'{end}_seconds_per_byte'] = busy / rates.send_bytes_per_second
  return link_costs.LinkCosts(
    latency_seconds=latency,
    message_seconds=np.zeros((count, count)),
    bytes_per_second=rate,
    channel=np.arange(count * count, dtype=np.int32).reshape(count, count),
    **services,
  )
