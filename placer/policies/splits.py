"""Splits that an engineer makes by hand, as pure functions of a problem.

    layer_split     contiguous parts in topological order, of equal time
    branch_split    parallel branches on different devices, what lies between
                    them on one
    name_splits     by numbers in op names: layer k of L on device k * D // L

All return int32 `[G]`, legal. `devices` are the indices that may be used, in
the order of use; where groups may use none of them, they are on the first
device that they may use.
"""

import re
from collections.abc import Sequence

import numpy as np

from placer.core import placement_problem
from placer.policies import block_graph
from placer.policies import estimate

# The parts of models that people number and put on devices of their own. Not
# among them: steps, since a step's work depends on the step before.
_PART = re.compile(
  r'(layer|tower|expert|branch|block|stage|cell|lstm|gru|rnn|head|module)'
  r's?[_-]?(\d+)(?:_\d+)?$',
  re.IGNORECASE,
)
# A numbered part is worth splitting by when it covers this much of the time.
_MIN_COVERED = 0.5


def fast_devices(
  problem: placement_problem.PlacementProblem,
) -> tuple[int, ...]:
  """The devices that a person splits over: accelerators where there are any.

  Args:
    problem: D devices.

  Returns:
    Indices of all devices that aren't CPUs, or of all when all are.
  """
  devices = problem.devices.devices
  fast = tuple(i for i, device in enumerate(devices) if device.type != 'CPU')
  return fast or tuple(range(len(devices)))


def layer_split(
  problem: placement_problem.PlacementProblem, devices: Sequence[int]
) -> np.ndarray:
  """Contiguous parts in topological order, of equal estimated time.

  Args:
    problem: G groups.
    devices: indices to use, in this order.

  Returns:
    int32 `[G]`.
  """
  blocks = block_graph.build(problem, chains=False)
  middle = np.cumsum(blocks.seconds) - blocks.seconds / 2
  part = middle / max(blocks.seconds.sum(), 1e-30) * len(devices)
  part = np.minimum(part.astype(int), len(devices) - 1)
  return blocks.candidate(np.asarray(devices)[part])


def branch_split(
  problem: placement_problem.PlacementProblem,
  devices: Sequence[int],
  rates: estimate.Rates = estimate.Rates(),
) -> np.ndarray:
  """Parallel branches on different devices, the longest first (LPT).

  The trunk, which all ways pass, is on the first device. A branch goes where
  it would end first, sending its inputs there and its outputs back included,
  so branches that aren't worth sending stay with the trunk.

  Args:
    problem: G groups.
    devices: indices to use, the trunk's first.
    rates: for the estimate of times.

  Returns:
    int32 `[G]`.
  """
  blocks = block_graph.build(problem, rates)
  placed = np.full(len(blocks), devices[0], np.int32)
  for branches in blocks.segments:
    if len(branches) == 1:
      continue
    loads = dict.fromkeys(devices, 0.0)
    times = [float(blocks.seconds[list(branch)].sum()) for branch in branches]
    for index in sorted(range(len(branches)), key=lambda i: (-times[i], i)):
      branch = list(branches[index])
      away = times[index] + _sending_seconds(blocks, branch, rates)
      ends = {
        device: load + (times[index] if device == devices[0] else away)
        for device, load in loads.items()
      }
      best = min(ends, key=ends.__getitem__)
      loads[best] = ends[best]
      placed[branch] = best
  return blocks.candidate(placed)


def name_splits(
  problem: placement_problem.PlacementProblem, devices: Sequence[int]
) -> dict[str, np.ndarray]:
  """Splits by the numbered parts that op names have.

  'layer_3/…', 'encoder/tower_4/…', 'step_2/layer_1/…': each kind of part that
  covers at least half of the time gives a split of its own. Groups without a
  number follow what they read, else what reads them.

  Args:
    problem: G groups.
    devices: indices to use, in this order.

  Returns:
    {kind of part: int32 `[G]`}, e.g. {'layer': …}.
  """
  blocks = block_graph.build(problem, chains=False)
  seconds = estimate.op_seconds(problem)
  found = {}
  for kind, numbers in _numbered_parts(problem.graph.names).items():
    ops = np.fromiter(numbers, int)
    levels = sorted(set(numbers.values()))
    covered = seconds[ops].sum()
    if len(levels) < 2 or covered < _MIN_COVERED * seconds.sum():
      continue
    votes = np.zeros((len(blocks), len(devices)))
    rank = {number: i for i, number in enumerate(levels)}
    for op, number in numbers.items():
      part = rank[number] * len(devices) // len(levels)
      votes[blocks.block_of_group[problem.op_group[op]], part] += seconds[op]
    found[kind] = blocks.candidate(np.asarray(devices)[_follow(blocks, votes)])
  return found


def _sending_seconds(blocks, branch, rates) -> float:
  """The time to send the inputs of a branch to it and its outputs back."""
  inside = np.zeros(len(blocks), bool)
  inside[branch] = True
  crossing = inside[blocks.source] != inside[blocks.target]
  return float(
    crossing.sum() * (rates.link_latency_seconds + 2 * rates.send_seconds)
    + blocks.bytes[crossing].sum() / rates.link_bytes_per_second
  )


def _numbered_parts(names: Sequence[str]) -> dict[str, dict[int, int]]:
  """{kind: {op index: number}}, by the outermost component of that kind."""
  found: dict[str, dict[int, int]] = {}
  for op, name in enumerate(names):
    for component in re.split(r'[/@]', name)[:-1]:
      match = _PART.search(component)
      if match:
        numbers = found.setdefault(match.group(1).lower(), {})
        numbers.setdefault(op, int(match.group(2)))
  return found


def _follow(blocks: block_graph.BlockGraph, votes: np.ndarray) -> np.ndarray:
  """The part int `[K]` of each block; blocks without votes follow others."""
  part = np.where(votes.any(axis=1), votes.argmax(axis=1), -1)
  edges = list(zip(blocks.source.tolist(), blocks.target.tolist(), strict=True))
  # Sorted by target, each block's sources are settled before it is; backwards
  # by source, each block's readers are.
  for s, t in sorted(edges, key=lambda edge: edge[1]):
    if part[t] < 0:
      part[t] = part[s]
  for s, t in sorted(edges, reverse=True):
    if part[s] < 0:
      part[s] = part[t]
  return np.maximum(part, 0)
