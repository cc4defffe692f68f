"""LanePool: the lanes of one measurer, made when needed, replaced when lost.

A lane is told the program and the problem once, and what it has loaded is
remembered, so that the reference keeps its session from candidate to
candidate.
"""

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from placer.core import placement_problem
from placer.core import program as program_lib
from placer.devices import layout as layout_lib
from placer.measurers import session_options
from placer.measurers.processes import lane as lane_lib
from placer.measurers.processes import lane_spec
from placer.measurers.processes import memory_cap
from placer.measurers.processes import nursery as nursery_lib


@dataclasses.dataclass
class _Held:
  """A lane and what it was told: mutable, for this file only."""

  lane: lane_lib.Lane
  problem: str = ''
  loaded: bytes | None = None
  result: Any = None


class LanePool:
  """The lanes of one measurer; see the module docstring."""

  def __init__(
      self,
      program: program_lib.Program,
      feed_values: Sequence[np.ndarray],
      layout: layout_lib.ProcessLayout,
      options: session_options.SessionOptions,
      work_dir: pathlib.Path,
  ) -> None:
    """Starts the nursery.

    Args:
      program: what all lanes run.
      feed_values: one array a feed of the program.
      layout: the processes of a lane.
      options: time limits, seed, exposure.
      work_dir: folder for the log files.
    """
    self._program = program
    self._feed_values = tuple(feed_values)
    self._layout = layout
    self._options = options
    self._work_dir = work_dir
    work_dir.mkdir(parents=True, exist_ok=True)
    self._held: dict[str, _Held] = {}
    self._number = 0
    self._nursery: nursery_lib.Nursery | None = self._new_nursery()

  def load(
      self,
      role: str,
      problem: placement_problem.PlacementProblem,
      candidate: np.ndarray,
  ) -> Any:
    """Loads a candidate in the lane of a role.

    Args:
      role: 'candidate' always loads anew; others keep an equal candidate.
      problem: what the candidate places.
      candidate: int32 `[G]`.

    Returns:
      The `lane_server.Loaded`.

    Raises:
      FailedError: it does not run.
    """
    held = self._lane(role)
    key = np.ascontiguousarray(candidate, np.int32).tobytes()
    if held.problem != problem.fingerprint:
      names = tuple(map(self._program.working_name, problem.graph.names))
      self.call(
          role,
          'set_problem',
          op_names=names,
          op_group=np.asarray(problem.op_group, np.int32),
          devices=problem.devices.names,
      )
      held.problem, held.loaded = problem.fingerprint, None
    if role == 'candidate' or held.loaded != key:
      held.loaded = None
      held.result = self.call(
          role,
          'load',
          candidate=np.asarray(candidate, np.int32),
          warm_up_steps=self._options.warm_up_steps,
      )
      held.loaded = key
    return held.result

  def call(self, role: str, method: str, **arguments: Any) -> Any:
    """Calls a method of the LaneServer of a role's lane.

    Args:
      role: which lane.
      method: its name.
      **arguments: its arguments.

    Returns:
      What it returned.

    Raises:
      FailedError: it failed; LostError if the lane is lost, too.
    """
    held = self._lane(role)
    try:
      return held.lane.call(method, self._timeouts(), **arguments)
    except lane_lib.LostError:
      held.lane.close()
      del self._held[role]
      raise

  def close(self) -> None:
    """Ends all processes; safe to call twice."""
    for held in self._held.values():
      held.lane.close()
    self._held.clear()
    if self._nursery is not None:
      self._nursery.close()
      self._nursery = None

  def _lane(self, role: str) -> _Held:
    if role not in self._held:
      lane = self._new_lane(role)
      self._held[role] = _Held(lane)
      self.call(
          role,
          'set_program',
          program=self._program,
          feed_values=self._feed_values,
          seed=self._options.seed,
      )
    return self._held[role]

  def _new_lane(self, role: str) -> lane_lib.Lane:
    self._number += 1
    layout = self._layout
    if role == 'host':
      layout = layout_lib.ProcessLayout(host_cores=layout.host_cores)
    spec = lane_spec.LaneSpec(
        role,
        layout,
        str(self._work_dir / f'{role}{self._number}.log'),
        self._program.op_libraries,
    )
    if self._nursery is None:
      self._nursery = self._new_nursery()
    try:
      return lane_lib.Lane(self._nursery, spec)
    except nursery_lib.NurseryLostError:
      # It was killed, and all lanes with it: one more try with a new one.
      self._nursery.close()
      self._nursery = self._new_nursery()
      return lane_lib.Lane(self._nursery, spec)

  def _new_nursery(self) -> nursery_lib.Nursery:
    namespace = 'none'
    if self._layout.worker_cores:
      namespace = 'try' if self._options.allow_exposed_workers else 'must'
    return nursery_lib.Nursery(
        self._work_dir / 'nursery.log',
        namespace=namespace,
        gpus=self._layout.gpus,
    )

  def _timeouts(self) -> dict[str, float]:
    retry = memory_cap.RETRY_SECONDS if self._layout.memory_limits else 0.0
    return {
        'start': self._options.setup_timeout_seconds,
        'setup': self._options.setup_timeout_seconds + retry,
        'step': self._options.step_timeout_seconds + retry,
    }
