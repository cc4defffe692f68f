"""Random legal placements for tests."""

import numpy as np

from placer.core import device as device_lib
from placer.core import placement_problem
from placer.importers import base
from placer.problems import build


def topology(kind: str, count: int) -> device_lib.DeviceTopology:
  """`count` devices of a type in one process, as `logical:N` has them."""
  return device_lib.DeviceTopology(
    f'logical:{count}',
    tuple(
      device_lib.Device(f'/job:localhost/replica:0/task:0/device:{kind}:{i}')
      for i in range(count)
    ),
  )


def random_candidate(
  problem: placement_problem.PlacementProblem, seed: int = 0
) -> np.ndarray:
  """int32 `[G]`, uniform over the devices that each group may use."""
  rng = np.random.default_rng(seed)
  scores = rng.random(problem.allowed.shape)
  return np.where(problem.allowed, scores, -1).argmax(axis=1).astype(np.int32)


def random_devices(
  imported: base.ImportedGraph, kind: str, count: int, seed: int = 0
) -> dict[str, str]:
  """{op path: device} of a random legal placement, original ops only."""
  problem = build.build(imported, topology(kind, count))
  placed = problem.placement(random_candidate(problem, seed)).devices
  return {
    path: device
    for path, device in placed.items()
    if path not in imported.not_original
  }
