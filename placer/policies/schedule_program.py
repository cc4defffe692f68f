"""Placement and schedule at once, as a constraint program for CP-SAT.

Every schedule that the simulator makes of a placement that runs is a solution,
so that the solver's bound is one of the simulator's steps. The program knows

  devices   each group is on one; an op holds a slot for its time and gap;
  edges     an op starts after what it reads is out, and after the fastest way
            of it if the two groups are on different devices;
  channels  a signal takes one to each device with readers, one at a time,
            where that is at most `most_transfers` intervals;
  memory    what groups keep has to fit;
  windows   the heads and tails of `window_bounds.py`, and the step that is
            known already.

It may run ready ops in any order, which the simulator does not: its schedule
may be shorter than the step of its placement. Services of sending and receiving
delay, but keep no device busy.

All times are rounded down to ticks: what starts after another has ended still
does when both are, so that the bound stays valid. Letters: `N` ops, `G` groups,
`D` devices, `S` signals.
"""

import dataclasses
from typing import Any

import numpy as np

from placer.core import errors
from placer.policies import planning_graph
from placer.policies import transfer_program
from placer.policies import window_bounds


@dataclasses.dataclass(frozen=True)
class SolverLimits:
  """How long to solve.

  Attributes:
    seconds: of time.
    work: CP-SAT's deterministic time, or None; of the same order as seconds,
      but equal searches stop at the same place.
    workers: threads; one works with `work` only.
    seed: of the solver.
    most_transfers: see the module docstring.
    ticks: the known step is so long; finer ones give a closer bound.
  """

  seconds: float = 60.0
  work: float | None = None
  workers: int = 1
  seed: int = 0
  most_transfers: int = 3_000
  ticks: int = 50_000


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
  """What the solver found.

  Attributes:
    candidates: int32 `[G]` each, placements with ever shorter schedules; none
      if there was no time, or nothing better than what was known.
    bound_seconds: no step is shorter.
    is_optimal: nothing in the program is better than the known step or the last
      candidate.
  """

  candidates: tuple[np.ndarray, ...]
  bound_seconds: float
  is_optimal: bool


def solve(
  graph: planning_graph.PlanningGraph,
  windows: window_bounds.Windows,
  memory_bytes: np.ndarray,
  known: np.ndarray,
  known_seconds: float,
  limits: SolverLimits = SolverLimits(),
) -> Solution:
  """Solves the program as far as time allows.

  Args:
    graph: N ops in G groups on D devices.
    windows: of its ops.
    memory_bytes: int64 `[D]`.
    known: int32 `[G]`, a placement.
    known_seconds: its step, finite; only shorter ones are looked for.
    limits: how long.

  Returns:
    The Solution.

  Raises:
    UsageError: OR-Tools is not installed.
  """
  cp_model = _cp_model()
  tick = known_seconds / limits.ticks
  if tick <= 0:
    return Solution((), 0.0, True)
  program = _Program(cp_model, graph, windows, tick, limits)
  program.keep_memory(memory_bytes)
  program.hint(known)
  solver = cp_model.CpSolver()
  solver.parameters.max_time_in_seconds = limits.seconds
  if limits.work is not None:
    solver.parameters.max_deterministic_time = limits.work
  solver.parameters.num_search_workers = limits.workers
  solver.parameters.random_seed = limits.seed % 2**31
  found = _collector(cp_model, program.places)
  status = solver.solve(program.model, found)
  if status == cp_model.INFEASIBLE:
    # Not even the known step fits in: memory alone forbids all placements.
    return Solution((), known_seconds, True)
  bound = max(solver.best_objective_bound * tick, windows.seconds)
  return Solution(
    tuple(found.candidates),
    min(bound, known_seconds),
    status == cp_model.OPTIMAL,
  )


def _cp_model() -> Any:
  # 0.4 s to import, and for those only who need it.
  try:
    from ortools.sat.python import cp_model
  except ImportError as error:
    raise errors.UsageError(
      'The exact planner needs OR-Tools: pip install ortools.'
    ) from error
  return cp_model


class _Program:
  """The program; `model` is CP-SAT's, `places` [G][D] of 0, 1 or a variable."""

  def __init__(self, cp_model, graph, windows, tick: float, limits) -> None:
    self.model = cp_model.CpModel()
    self._graph, self._tick = graph, tick
    self._end = int(limits.ticks)
    self.places = self._places()
    heads, tails = self._ticks(windows.heads), self._ticks(windows.tails)
    self._whole = self.model.new_int_var(
      int(windows.seconds / tick), self._end, ''
    )
    self._starts = [
      self.model.new_int_var(head, max(head, self._end - tail), '')
      for head, tail in zip(heads.tolist(), tails.tolist(), strict=True)
    ]
    self._holds = [
      self._by_place(op, graph.hold_seconds) for op in range(len(graph))
    ]
    for start, hold, tail in zip(
      self._starts, self._holds, tails.tolist(), strict=True
    ):
      self.model.add(start + hold + tail <= self._whole)
    self._add_devices()
    self._apart: dict[tuple[int, int], Any] = {}
    self._add_edges()
    devices = graph.num_devices
    if len(graph.signals) * devices * (devices - 1) <= limits.most_transfers:
      transfer_program.add(
        self.model, graph, self._ticks, self._end, self.places, self._starts
      )
    self.model.minimize(self._whole)

  def keep_memory(self, memory_bytes: np.ndarray) -> None:
    """What groups keep has to fit."""
    sizes = self._graph.persistent_bytes.tolist()
    for device, limit in enumerate(memory_bytes.tolist()):
      if sum(sizes) > limit:
        self.model.add(
          sum(
            size * places[device]
            for size, places in zip(sizes, self.places, strict=True)
          )
          <= limit
        )

  def hint(self, known: np.ndarray) -> None:
    """Begins the search at a placement."""
    for places, device in zip(self.places, known.tolist(), strict=True):
      for index, place in enumerate(places):
        if not isinstance(place, int):
          self.model.add_hint(place, int(index == device))

  def _ticks(self, seconds: np.ndarray) -> np.ndarray:
    """Rounded down; what is longer than the known step is as long as that."""
    ticks = np.floor(np.minimum(seconds / self._tick, self._end + 1))
    return ticks.astype(np.int64)

  def _places(self) -> list[list[Any]]:
    rows = []
    for allowed in self._graph.allowed.tolist():
      only = sum(allowed) == 1
      row = [
        (1 if only else self.model.new_bool_var('')) if may else 0
        for may in allowed
      ]
      if not only:
        self.model.add_exactly_one(
          [place for place, may in zip(row, allowed, strict=True) if may]
        )
      rows.append(row)
    return rows

  def _by_place(self, op: int, seconds: np.ndarray) -> Any:
    """The ticks of an op: a number, or a sum over its devices."""
    places = self.places[self._graph.group[op]]
    ticks = self._ticks(seconds[op]).tolist()
    may = self._graph.op_allowed[op].tolist()
    different = {t for t, m in zip(ticks, may, strict=True) if m}
    if len(different) == 1:
      return different.pop()
    return sum(
      t * place for t, place, m in zip(ticks, places, may, strict=True) if m
    )

  def _add_devices(self) -> None:
    graph = self._graph
    busy = self._ticks(graph.hold_seconds + graph.gap_seconds)
    for device, slots in enumerate(graph.slots.tolist()):
      intervals = [
        self._optional(
          start, int(busy[op, device]), self.places[graph.group[op]][device]
        )
        for op, start in enumerate(self._starts)
        if graph.op_allowed[op, device] and busy[op, device]
      ]
      if slots == 1:
        self.model.add_no_overlap(intervals)
      else:
        self.model.add_cumulative(intervals, [1] * len(intervals), slots)

  def _optional(self, start, size: int, present) -> Any:
    if isinstance(present, int):
      return self.model.new_fixed_size_interval_var(start, size, '')
    return self.model.new_optional_fixed_size_interval_var(
      start, size, present, ''
    )

  def _are_apart(self, one: int, other: int) -> Any:
    """1 if two groups are on different devices, as a variable."""
    key = min(one, other), max(one, other)
    if key not in self._apart:
      apart = self.model.new_bool_var('')
      pairs = zip(self.places[one], self.places[other], strict=True)
      for place, other_place in pairs:
        self.model.add(apart >= place - other_place)
        self.model.add(apart >= other_place - place)
      self._apart[key] = apart
    return self._apart[key]

  def _add_edges(self) -> None:
    graph = self._graph
    away = ~np.eye(graph.num_devices, dtype=bool)
    delays = self._ticks(
      graph.delay_seconds[:, away].min(axis=1, initial=np.inf)
    )
    edges: dict[tuple[int, int], int] = {}
    for signal, readers in enumerate(graph.readers):
      source = int(graph.signals.source[signal])
      for reader in readers:
        before = edges.get((source, reader), 0)
        edges[source, reader] = max(before, int(delays[signal]))
    for (source, target), delay in edges.items():
      end = self._starts[source] + self._holds[source]
      one, other = int(graph.group[source]), int(graph.group[target])
      if one != other and graph.num_devices > 1 and delay:
        end = end + delay * self._are_apart(one, other)
      self.model.add(self._starts[target] >= end)


def _collector(cp_model, places) -> Any:
  """A callback that keeps the placement of every solution."""

  class _Collector(cp_model.CpSolverSolutionCallback):
    def __init__(self) -> None:
      super().__init__()
      self.candidates: list[np.ndarray] = []

    def on_solution_callback(self) -> None:
      rows = [
        [p if isinstance(p, int) else self.value(p) for p in row]
        for row in places
      ]
      self.candidates.append(np.argmax(rows, axis=1).astype(np.int32))

  return _Collector()
