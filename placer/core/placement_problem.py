"""PlacementProblem: what may be decided, and what is fixed.

Ops that must or should share a device form a *group*; a policy gives each
group a device. Letters: `N` ops, `G` groups, `D` devices, `B` candidates.

  graph: the OpGraph, N ops.
  devices: the DeviceTopology, D devices.
  op_group: int32 `[N]`, the group of each op; groups are numbered in the
    topological order of their first op, each in 0..G-1 is used.
  allowed: bool `[G, D]`, the devices a group may use; each row has a True.
  group_names: G names for people: the op path of the group's costliest op.
  fixed_reasons: {group: why it may use fewer devices than D}.
  notes: sentences for the user: what was assumed, repaired or merged.
  costs: the CostModel of the N ops on the D devices, for planning without
    running; None where nobody has made one. Not part of the fingerprint.

A *candidate* is an int32 array `[G]` of device indices, a batch `[B, G]`.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Mapping

import numpy as np

from placer.core import cost_model
from placer.core import device as device_lib
from placer.core import errors
from placer.core import op_graph
from placer.core import placement as placement_lib


@dataclasses.dataclass(frozen=True, eq=False)
class PlacementProblem:
  """What a policy decides on; see the module docstring."""

  graph: op_graph.OpGraph
  devices: device_lib.DeviceTopology
  op_group: np.ndarray
  allowed: np.ndarray
  group_names: tuple[str, ...]
  fixed_reasons: Mapping[int, str] = dataclasses.field(default_factory=dict)
  notes: tuple[str, ...] = ()
  costs: cost_model.CostModel | None = None

  def __post_init__(self) -> None:
    if len(self.op_group) != len(self.graph):
      raise ValueError(
        f'op_group has {len(self.op_group)} entries for {len(self.graph)} ops.'
      )
    expected = (len(self.group_names), len(self.devices))
    if self.allowed.shape != expected:
      raise ValueError(
        f'allowed has shape {self.allowed.shape}, needs {expected}.'
      )
    stuck = np.flatnonzero(~self.allowed.any(axis=1))
    if len(stuck):
      group = int(stuck[0])
      raise errors.NoFeasiblePlacementError(
        f'Op {self.group_names[group]!r} and what must be with it can run '
        f'on none of the devices {", ".join(self.devices.names)}: '
        f'{self.fixed_reasons.get(group, "no kernel fits")}. Add a device '
        'that can run it, e.g. --devices=auto includes the CPU.'
      )

  @property
  def num_groups(self) -> int:
    """G."""
    return len(self.group_names)

  @functools.cached_property
  def group_members(self) -> tuple[np.ndarray, ...]:
    """G int arrays: the ops of each group, in topological order."""
    order = np.argsort(self.op_group, kind='stable')
    bounds = np.searchsorted(
      self.op_group[order], np.arange(self.num_groups + 1)
    )
    return tuple(
      order[bounds[g] : bounds[g + 1]] for g in range(self.num_groups)
    )

  @functools.cached_property
  def group_edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(source int32 `[F]`, target int32 `[F]`, bytes int64 `[F]`).

    One entry for each ordered pair of different groups with an edge; a tensor
    that several ops of the target read counts once; back edges are left out.
    """
    graph = self.graph
    keep = ~graph.edge_is_back
    source = self.op_group[graph.edge_source[keep]].astype(np.int64)
    target = self.op_group[graph.edge_target[keep]].astype(np.int64)
    tensor = graph.edge_tensor[keep].astype(np.int64)
    size = graph.edge_bytes[keep]
    cross = source != target
    keys = np.stack([source, target, tensor])[:, cross]
    keys, first = np.unique(keys, axis=1, return_index=True)
    size = size[cross][first]
    pair = keys[0] * self.num_groups + keys[1]
    pairs, inverse = np.unique(pair, return_inverse=True)
    total = np.bincount(inverse, size, minlength=len(pairs)).astype(np.int64)
    return (
      (pairs // max(self.num_groups, 1)).astype(np.int32),
      (pairs % max(self.num_groups, 1)).astype(np.int32),
      total,
    )

  @functools.cached_property
  def fingerprint(self) -> str:
    """A hash of graph, devices and groups: equal problems, equal trials."""
    digest = hashlib.sha256()
    digest.update(self.graph.fingerprint.encode())
    digest.update(self.devices.fingerprint.encode())
    digest.update(np.ascontiguousarray(self.op_group, np.int32).tobytes())
    digest.update(np.packbits(self.allowed).tobytes())
    return digest.hexdigest()[:16]

  def check(self, candidate: np.ndarray) -> None:
    """Checks one candidate.

    Args:
      candidate: int `[G]`, a device index for each group.

    Raises:
      ValueError: wrong shape, or a group is on a device it may not use.
    """
    candidate = np.asarray(candidate)
    if candidate.shape != (self.num_groups,):
      raise ValueError(
        f'A candidate has shape {candidate.shape}, needs ({self.num_groups},).'
      )
    if self.num_groups and (
      candidate.min() < 0 or candidate.max() >= len(self.devices)
    ):
      raise ValueError(
        f'Device indices must be in 0..{len(self.devices) - 1}, got '
        f'{candidate.min()}..{candidate.max()}.'
      )
    bad = np.flatnonzero(~self.allowed[np.arange(self.num_groups), candidate])
    if len(bad):
      group = int(bad[0])
      raise ValueError(
        f'Group {self.group_names[group]!r} may not use '
        f'{self.devices.names[candidate[group]]}: '
        f'{self.fixed_reasons.get(group, "no kernel there")}.'
      )

  def placement(self, candidate: np.ndarray) -> placement_lib.Placement:
    """The Placement (op path -> device name) of a candidate int `[G]`."""
    names = self.devices.names
    per_op = np.asarray(candidate)[self.op_group]
    return placement_lib.Placement(
      {
        name: names[device]
        for name, device in zip(self.graph.names, per_op, strict=True)
      }
    )

  def candidate(self, placement: placement_lib.Placement) -> np.ndarray:
    """The candidate int32 `[G]` that a Placement means.

    A group goes where most of its placed ops go; groups that the placement
    does not name keep their first allowed device.

    Args:
      placement: op path -> device name; names other than this graph's are
        left out.

    Returns:
      int32 `[G]`, legal.

    Raises:
      UsageError: a device is not one of this problem's.
    """
    votes = np.zeros((self.num_groups, len(self.devices)), np.int64)
    columns: dict[str, int] = {}
    for name, device in placement.devices.items():
      op = self.graph.index.get(name)
      if op is None:
        continue
      if device not in columns:
        columns[device] = self.devices.index(device)
      votes[self.op_group[op], columns[device]] += 1
    votes[~self.allowed] = -1
    return votes.argmax(axis=1).astype(np.int32)


def nearest_legal(candidates: np.ndarray, allowed: np.ndarray) -> np.ndarray:
  """Candidates with every group where it may be.

  Args:
    candidates: int `[..., G]`, a device for each group.
    allowed: bool `[G, D]`.

  Returns:
    int32 `[..., G]`; groups that may not be there are on the first device that
    they may use.
  """
  candidates = np.asarray(candidates)
  legal = allowed[np.arange(len(allowed)), candidates]
  return np.where(legal, candidates, allowed.argmax(axis=1)).astype(np.int32)
