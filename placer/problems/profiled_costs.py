"""Costs from profiles: what the ops of a graph really take on real devices.

    costs = profiled_costs.build(graph, devices, profiles)

Letters: `N` ops, `T` tensors, `D` devices.

* An op takes what its traces say, less a constant: recording a trace costs
  each op a little, which is told from what all ops took together over what a
  step takes without traces (DESIGN §3.18). Where the ops took less than the
  step, the rest is the executor's time between them, shared out evenly.
* Ops that were seen on no traced step take nothing: TensorFlow's optimiser
  fused, folded or removed them, or they are in a branch that is not taken.
* What a tensor takes in memory, what shares its buffer, and temporaries are as
  allocated. Tensors of ops that were fused into a later one are not there, but
  what they were made from is until that one has run.
* A device without a profile has the roofline's costs (`costs.analytic`), times
  the factor between roofline and profile on the devices that have one of the
  same type.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from placer.core import cost_model
from placer.core import device as device_lib
from placer.core import op_graph
from placer.core import placement_problem
from placer.core import step_profile
from placer.problems import costs


def build(
  graph: op_graph.OpGraph,
  devices: device_lib.DeviceTopology,
  profiles: Mapping[int, step_profile.StepProfile],
) -> cost_model.CostModel:
  """The CostModel of a graph by its profiles; see the module docstring.

  Args:
    graph: N ops, T tensors.
    devices: D devices.
    profiles: {device: its StepProfile}; all missing is allowed.

  Returns:
    The CostModel.
  """
  model = costs.analytic(graph, devices)
  if not profiles:
    return model
  seconds, gaps = model.op_seconds.copy(), model.gap_seconds.copy()
  for device in range(len(devices)):
    profile = profiles.get(device)
    if profile is None:
      seconds[:, device] *= _roofline_factor(model, devices, profiles, device)
      continue
    known = profile.is_run | ~_is_run(profiles)
    runs = np.maximum(profile.op_runs, 1)
    seconds[known, device] = (without_tracing(profile) / runs)[known]
    gaps[known, device] = 0.0
  first = next(iter(profiles.values()))
  runs = np.max([p.op_runs for p in profiles.values()], axis=0)
  runs = np.where(runs > 0, runs, model.op_runs)
  return dataclasses.replace(
    model,
    op_seconds=seconds,
    gap_seconds=gaps,
    op_runs=runs,
    tensor_sends=cost_model.sends(graph, runs),
    temporary_bytes=np.max(
      [p.temporary_bytes for p in profiles.values()], axis=0
    ),
    **_memory(graph, model, first),
  )


def measured_problem(
  problem: placement_problem.PlacementProblem,
  links: Sequence[device_lib.Link],
  profiles: Mapping[int, step_profile.StepProfile],
) -> placement_problem.PlacementProblem:
  """The problem with what was measured of its devices.

  Args:
    problem: N ops on D devices.
    links: between the devices.
    profiles: {device: its StepProfile}.

  Returns:
    The problem, its `devices` with these links, its `costs` by these links
    and profiles, and in its graph the persistent bytes that were really held,
    shared out in proportion to what ops have themselves.
  """
  devices = dataclasses.replace(problem.devices, links=tuple(links))
  graph = _with_persistent(problem.graph, profiles)
  return dataclasses.replace(
    problem,
    graph=graph,
    devices=devices,
    costs=build(graph, devices, profiles),
  )


def _with_persistent(
  graph: op_graph.OpGraph, profiles: Mapping[int, step_profile.StepProfile]
) -> op_graph.OpGraph:
  """The graph, with persistent bytes as they were held."""
  is_feed = np.array([kind == 'Placeholder' for kind in graph.types], bool)
  # Inputs of a measured step lie on the devices all the time.
  persistent = graph.persistent_bytes + is_feed * graph.output_bytes
  held = max((p.persistent_bytes for p in profiles.values()), default=0)
  known = int(persistent.sum())
  if held > known > 0:
    # Kernels keep more than that: weights in the layout they like, mostly.
    persistent = persistent * (held / known)
  return dataclasses.replace(
    graph, persistent_bytes=persistent.astype(np.int64)
  )


def without_tracing(profile: step_profile.StepProfile) -> np.ndarray:
  """float64 `[N]`: seconds of the ops in a step that is not traced.

  Their sum is the untraced step, as long as that can be reached by the same
  correction of each run of an op.

  Args:
    profile: of N ops.
  """
  seconds, runs = profile.op_seconds, profile.op_runs.astype(np.float64)
  excess = seconds.sum() - profile.step_seconds
  total = max(runs.sum(), 1.0)
  if excess <= 0:
    return seconds - excess * runs / total
  # The constant that takes the excess away, where no op goes below nothing.
  each = seconds / np.maximum(runs, 1.0)
  low, high = 0.0, float(each.max(initial=0.0))
  for _ in range(60):
    middle = (low + high) / 2
    left = np.maximum(seconds - middle * runs, 0.0).sum()
    low, high = (middle, high) if left > profile.step_seconds else (low, middle)
  # So much is no cost of tracing: those steps just ran slower.
  overhead = min(high, _MOST_OVERHEAD_SECONDS)
  corrected = np.maximum(seconds - overhead * runs, 0.0)
  return corrected * profile.step_seconds / max(corrected.sum(), 1e-30)


# Of one record; 2 to 5 microseconds were seen.
_MOST_OVERHEAD_SECONDS = 1e-5


def _is_run(profiles: Mapping[int, step_profile.StepProfile]) -> np.ndarray:
  return np.any([p.is_run for p in profiles.values()], axis=0)


def _memory(
  graph: op_graph.OpGraph,
  model: cost_model.CostModel,
  profile: step_profile.StepProfile,
) -> dict[str, np.ndarray]:
  """What tensors take, and which share a buffer."""
  seen = profile.tensor_bytes >= 0
  shares = np.where(seen, profile.shares_tensor, model.shares_tensor)
  # What an op reads that was fused into a later one is read by that one.
  fused = ~profile.is_run[graph.tensor_source] & ~seen
  shares = np.where(fused, _largest_input(graph)[graph.tensor_source], shares)
  shares = _as_read(graph, shares, fused)
  persistent = graph.persistent_bytes[graph.tensor_source] > 0
  resident = np.where(
    persistent | (shares >= 0), 0, np.maximum(profile.tensor_bytes, 0)
  )
  return {
    'resident_bytes': resident.astype(np.int64),
    'shares_tensor': shares,
  }


def _largest_input(graph: op_graph.OpGraph) -> np.ndarray:
  """int32 `[N]`: the largest tensor that each op reads, or -1."""
  data = np.flatnonzero((graph.edge_tensor >= 0) & ~graph.edge_is_back)
  data = data[np.argsort(graph.edge_bytes[data], kind='stable')]
  largest = np.full(len(graph), -1, np.int32)
  # The last one that is written stays.
  largest[graph.edge_target[data]] = graph.edge_tensor[data]
  return largest


def _as_read(
  graph: op_graph.OpGraph, shares: np.ndarray, fused: np.ndarray
) -> np.ndarray:
  """int32 `[T]`: what each tensor shares, as an input of its op in the graph.

  TensorFlow's optimiser may have the op read something else: what the fused ops
  before it are made from, whose buffer is theirs, too; or anything, then -1.

  Args:
    graph: N ops, T tensors.
    shares: int32 `[T]`, what a tensor of the *run* graph shares, or -1.
    fused: bool `[T]`, whether the op of a tensor was fused.
  """
  buffer = np.arange(len(shares))
  # Sources come before their readers.
  for tensor in np.flatnonzero(fused & (shares >= 0)):
    buffer[tensor] = buffer[shares[tensor]]
  data = (graph.edge_tensor >= 0) & ~graph.edge_is_back
  tensor, target = graph.edge_tensor[data], graph.edge_target[data]
  read = dict(zip(zip(target.tolist(), buffer[tensor].tolist()), tensor))
  read |= dict(zip(zip(target.tolist(), tensor.tolist()), tensor))
  wanted = zip(graph.tensor_source.tolist(), shares.tolist())
  return np.array([read.get(key, -1) for key in wanted], np.int32)


def _roofline_factor(
  model: cost_model.CostModel,
  devices: device_lib.DeviceTopology,
  profiles: Mapping[int, step_profile.StepProfile],
  device: int,
) -> float:
  """What profiles of devices of the same type took over the roofline."""
  factors = []
  for other, profile in profiles.items():
    if devices.devices[other].type == devices.devices[device].type:
      runs = np.maximum(profile.op_runs, 1)
      predicted = (model.op_seconds[:, other] * runs)[profile.is_run].sum()
      factors.append(profile.step_seconds / max(predicted, 1e-30))
  return float(np.median(factors)) if factors else 1.0
