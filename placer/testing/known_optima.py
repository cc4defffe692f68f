"""Small problems with costs whose fastest placement is known by reasoning.

An op takes 1 s on each of two devices.

| problem         | links | the best there is                      |
|-----------------|-------|----------------------------------------|
| two chains      | 10 s  | a chain on each device: 4 s            |
| fork-join       | free  | half of the branches each: 1 + 3 + 1 s |
| chain           | 0.5 s | all on one device: 6 s                 |
| memory for half | 0.1 s | the chain cut once in the middle: 4.1 s |
"""

import dataclasses

import numpy as np

from placer.core import cost_model
from placer.core import device
from placer.core import placement_problem
from placer.testing import problems

_GIGABYTE = 10**9


def cases() -> dict[str, tuple[placement_problem.PlacementProblem, float]]:
  """{name: (problem with costs, seconds of its fastest placement)}."""
  free, tight = _devices(0.0), _devices(0.1, 2 * _GIGABYTE)
  memory = problems.chain(4, devices=tight, tensor_bytes=0)
  graph = dataclasses.replace(
    memory.graph, persistent_bytes=np.full(4, _GIGABYTE)
  )
  return {
    'two chains': (
      _costed(problems.two_chains(4, devices=_devices(10.0))),
      4.0,
    ),
    'fork-join': (
      _costed(problems.fork_join(2, 3, devices=free, tensor_bytes=0)),
      5.0,
    ),
    'chain': (
      _costed(problems.chain(6, devices=_devices(0.5), tensor_bytes=0)),
      6.0,
    ),
    'memory for half': (
      _costed(dataclasses.replace(memory, graph=graph)),
      4.1,
    ),
  }


def _devices(
  latency_seconds: float, memory_bytes: int | None = None
) -> device.DeviceTopology:
  """Two devices whose links take as long whatever the bytes."""
  links = tuple(
    device.Link(i, 1 - i, latency_seconds, np.inf) for i in range(2)
  )
  return device.DeviceTopology(
    'two',
    tuple(
      device.Device(f'/job:w/replica:0/task:{i}/device:CPU:0', memory_bytes)
      for i in range(2)
    ),
    links,
  )


def _costed(
  problem: placement_problem.PlacementProblem,
) -> placement_problem.PlacementProblem:
  costs = cost_model.build(
    problem.graph, problem.devices, np.ones(len(problem.graph))
  )
  return dataclasses.replace(problem, costs=costs)
