"""What the list scheduling planners share.

Each builds its schedule three times: a group takes what it keeps, that and half
of its outputs, that and all of them. The first packs as if all other memory
were given back at once, the last as if none were; the simulation tells which of
the placements run, and which is fastest.
"""

import dataclasses
import heapq
from collections.abc import Callable

import numpy as np

from placer.policies import list_schedule
from placer.policies import planning_graph
from placer.policies import planning_model

_OUTPUT_SHARES = (0.0, 0.5, 1.0)

Delay = Callable[[int, int, float], float]
Placed = Callable[[int, int], None]


def on_accelerators(
  model: planning_model.PlanningModel,
) -> planning_graph.PlanningGraph:
  """The graph of a model, where CPUs are for what runs nowhere else.

  Baechi's devices are alike; who starts an op as early as can be would start
  it on any slow device that is idle.

  Args:
    model: of G groups on D devices.

  Returns:
    Its graph, `allowed` without CPUs in rows that have another device.
  """
  allowed = model.graph.allowed.copy()
  devices = model.problem.devices.devices
  is_fast = np.array([device.type != 'CPU' for device in devices])
  has_fast = (allowed & is_fast).any(axis=1)
  allowed[has_fast] &= is_fast
  return dataclasses.replace(model.graph, allowed=allowed)


def candidates(
  model: planning_model.PlanningModel,
  graph: planning_graph.PlanningGraph,
  schedule: Callable[[list_schedule.ListSchedule], None],
) -> list[np.ndarray]:
  """What a list scheduler makes of each view of memory.

  Args:
    model: of G groups.
    graph: its graph, or what became of it.
    schedule: places all ops of an empty ListSchedule of `graph`.

  Returns:
    Candidates int32 `[G]`, legal.
  """
  found = []
  limits = model.coarse.cost_model.memory_bytes
  for sizes in group_bytes(graph):
    step = list_schedule.ListSchedule(graph, sizes, limits)
    schedule(step)
    found.append(step.candidate())
    if sizes.sum() <= limits.min():
      # Nothing was in the way of memory; the others would be the same.
      break
  return found


def group_bytes(graph: planning_graph.PlanningGraph) -> list[np.ndarray]:
  """int64 `[G]` each: what groups take, the most first."""
  return [
    graph.persistent_bytes + (share * graph.output_bytes).astype(np.int64)
    for share in _OUTPUT_SHARES[::-1]
  ]


def earliest_first(
  graph: planning_graph.PlanningGraph,
  step: list_schedule.ListSchedule,
  delayed: Delay = lambda op, device, start: start,
  placed: Placed = lambda op, device: None,
) -> None:
  """Places, again and again, the ready op that can start first where it can.

  Args:
    graph: N ops.
    step: a schedule of them, empty; all ops are placed.
    delayed: (op, device, start) -> the start that is compared, not earlier.
    placed: (op, device) is called when an op was placed.
  """
  waits = [len(inputs) for inputs in graph.inputs]
  queue = []

  def add(op: int) -> None:
    starts = [
      (delayed(op, d, step.start_seconds(op, d, insert=False)), op, d)
      for d in step.choices(op)
    ]
    heapq.heappush(queue, min(starts))

  for op, count in enumerate(waits):
    if not count:
      add(op)
  while queue:
    start, op, device = heapq.heappop(queue)
    # Starts only get later while others are placed, so that one look at the
    # first of the queue tells whether it still is the first.
    now, _, there = min(
      (delayed(op, d, step.start_seconds(op, d, insert=False)), op, d)
      for d in step.choices(op)
    )
    if now > start and queue and (now, op, there) > queue[0]:
      heapq.heappush(queue, (now, op, there))
      continue
    step.place(op, there, insert=False)
    placed(op, there)
    for signal in graph.outputs[op]:
      for reader in graph.readers[signal]:
        waits[reader] -= 1
        if not waits[reader]:
          add(reader)


def upward_ranks(graph: planning_graph.PlanningGraph) -> np.ndarray:
  """The longest way from each op to the end (HEFT, Topcuoglu 2002, eq. 5).

  Args:
    graph: N ops.

  Returns:
    float64 `[N]`, seconds: mean times over the devices that an op may use, and
    mean delays over pairs of different devices.
  """
  hold = np.where(graph.op_allowed, graph.hold_seconds, np.nan)
  seconds = np.nan_to_num(np.nanmean(hold, axis=1), posinf=0.0)
  pairs = max(graph.num_devices * (graph.num_devices - 1), 1)
  delays = graph.delay_seconds.sum(axis=(1, 2)) / pairs
  ranks = np.zeros(len(graph))
  for op in range(len(graph) - 1, -1, -1):
    below = 0.0
    for signal in graph.outputs[op]:
      for reader in graph.readers[signal]:
        below = max(below, delays[signal] + ranks[reader])
    ranks[op] = seconds[op] + below
  return ranks
