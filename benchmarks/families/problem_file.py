"""A PlacementProblem as a file: arrays and JSON in one .npz, no pickle.

  <field>: each array of the OpGraph, and `op_group`, as they are.
  allowed: bool `[G, K]`, for each of the K device types whether a group may use
    it.
  texts: uint8, UTF-8 of a JSON object with the fields that hold strings and
    with `device_types`, of length K.

How ops are grouped depends on the types of the devices alone, so one file
serves any number of devices of these types. Costs are not in it: they follow
from the devices (`costs.analytic`).
"""

import json
import os
import pathlib

import numpy as np

from placer.core import device as device_lib
from placer.core import op_graph
from placer.core import placement_problem
from placer.problems import costs

_GRAPH_ARRAYS = (
  'tensor_source',
  'tensor_bytes',
  'tensor_shape_known',
  'edge_source',
  'edge_target',
  'edge_tensor',
  'edge_is_back',
  'flops',
  'persistent_bytes',
)
_GRAPH_TEXTS = ('names', 'types', 'original_devices')
_TEXTS = ('group_names', 'notes')


def device_types(devices: device_lib.DeviceTopology) -> tuple[str, ...]:
  """Returns the K different types of the devices, sorted."""
  return tuple(sorted({device.type for device in devices.devices}))


def save(
  problem: placement_problem.PlacementProblem, path: pathlib.Path
) -> None:
  """Writes a problem, the whole file or none.

  Args:
    problem: G groups of N ops; a group may use all devices of a type or none.
    path: A file in a folder that is there.
  """
  graph = problem.graph
  arrays = {name: getattr(graph, name) for name in _GRAPH_ARRAYS}
  types = device_types(problem.devices)
  all_types = [device.type for device in problem.devices.devices]
  columns = [all_types.index(kind) for kind in types]
  arrays['op_group'] = problem.op_group
  arrays['allowed'] = problem.allowed[:, columns]
  texts = {name: getattr(graph, name) for name in _GRAPH_TEXTS}
  texts |= {name: getattr(problem, name) for name in _TEXTS}
  texts['device_types'] = types
  texts['fixed_reasons'] = list(problem.fixed_reasons.items())
  arrays['texts'] = np.frombuffer(json.dumps(texts).encode(), np.uint8)
  partial = path.with_name(f'{path.name}.{os.getpid()}.partial')
  with partial.open('wb') as file:
    np.savez_compressed(file, **arrays)
  partial.replace(path)


def load(
  path: pathlib.Path, devices: device_lib.DeviceTopology
) -> placement_problem.PlacementProblem:
  """Reads a problem.

  Args:
    path: What `save` wrote.
    devices: D devices, of the types that the file is for.

  Returns:
    The PlacementProblem, with analytic costs.
  """
  with np.load(path, allow_pickle=False) as arrays:
    texts = json.loads(arrays['texts'].tobytes())
    graph = op_graph.OpGraph(
      **{name: arrays[name] for name in _GRAPH_ARRAYS},
      **{name: tuple(texts[name]) for name in _GRAPH_TEXTS},
    )
    types = texts['device_types']
    columns = [types.index(device.type) for device in devices.devices]
    return placement_problem.PlacementProblem(
      graph=graph,
      devices=devices,
      op_group=arrays['op_group'],
      allowed=arrays['allowed'][:, columns],
      **{name: tuple(texts[name]) for name in _TEXTS},
      fixed_reasons=dict(texts['fixed_reasons']),
      costs=costs.analytic(graph, devices),
    )
