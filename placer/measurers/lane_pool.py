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
from placer.core import step_profile
from placer.devices import alike as alike_lib
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
  loaded: tuple[bytes | None] | None = None
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
    self._slowest_setup: float | None = None
    self._nursery: nursery_lib.Nursery | None = self._new_nursery()

  def load(
    self,
    role: str,
    problem: placement_problem.PlacementProblem,
    candidate: np.ndarray | None,
  ) -> Any:
    """Loads a candidate in the lane of a role.

    Args:
      role: 'candidate' always loads anew; others keep an equal candidate.
      problem: what the candidate places.
      candidate: int32 `[G]`, or None for no placement.

    Returns:
      The `lane_server.Loaded`.

    Raises:
      FailedError: it does not run.
    """
    held = self._lane(role)
    key = None
    if candidate is not None:
      candidate = np.ascontiguousarray(candidate, np.int32)
      key = candidate.tobytes()
      self._tell_problem(held, role, problem)
    if role == 'candidate' or held.loaded != (key,):
      held.loaded = None
      held.result = self.call(
        role,
        'load',
        candidate=candidate,
        warm_up_steps=self._options.warm_up_steps,
      )
      held.loaded = (key,)
      self._slowest_setup = max(
        self._slowest_setup or 0.0, held.result.setup_seconds
      )
    return held.result

  def fetch(
    self,
    role: str,
    problem: placement_problem.PlacementProblem,
    candidate: np.ndarray | None,
    steps: int,
    variables: bool,
  ) -> dict[str, np.ndarray]:
    """Fetches values in the lane of a role; see `LaneServer.fetch`.

    Args:
      role: which lane.
      problem: what the candidate places.
      candidate: int32 `[G]`, or None for no placement.
      steps: how many steps to run in all.
      variables: whether to return variables, too.

    Returns:
      {tensor or variable: value}.

    Raises:
      FailedError: it does not run.
    """
    held = self._lane(role)
    held.loaded = None
    if candidate is not None:
      candidate = np.ascontiguousarray(candidate, np.int32)
      self._tell_problem(held, role, problem)
    return self.call(
      role, 'fetch', candidate=candidate, steps=steps, variables=variables
    )

  def profile(
    self,
    problem: placement_problem.PlacementProblem,
    alike: alike_lib.DeviceClass,
    seconds: float,
  ) -> step_profile.StepProfile:
    """Profiles the program on one kind of device, in a lane of its own.

    Args:
      problem: names the ops.
      alike: the device and the process to profile it in.
      seconds: of steps.

    Returns:
      The StepProfile.

    Raises:
      FailedError: it does not run there.
    """
    held = self._lane('profile', alike.layout)
    try:
      self._tell_problem(held, 'profile', problem)
      return self.call(
        'profile',
        'profile',
        tensor_source=problem.graph.tensor_source,
        device=alike.name,
        seconds=seconds,
      )
    finally:
      self.close_lane('profile')

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
    # A lane that died since the last call is not replaced here: the new one
    # would not have loaded what the call is about.
    held = self._held.get(role) or self._lane(role)
    try:
      return held.lane.call(method, self._timeouts(), **arguments)
    except lane_lib.LostError:
      self.close_lane(role)
      raise

  @property
  def nursery_pid(self) -> int:
    """The nursery's process id."""
    return self._nursery.pid

  def lane_pid(self, role: str) -> int:
    """The process id of a role's client; KeyError if there is none."""
    return self._held[role].lane.pid

  def close(self) -> None:
    """Ends all processes; safe to call twice."""
    for held in self._held.values():
      held.lane.close()
    self._held.clear()
    if self._nursery is not None:
      self._nursery.close()
      self._nursery = None

  def close_lane(self, role: str) -> None:
    """Ends one lane, if it is there."""
    if role in self._held:
      self._held.pop(role).lane.close()

  def _tell_problem(
    self,
    held: _Held,
    role: str,
    problem: placement_problem.PlacementProblem,
  ) -> None:
    if held.problem == problem.fingerprint:
      return
    self.call(
      role,
      'set_problem',
      op_names=tuple(map(self._program.working_name, problem.graph.names)),
      op_group=np.asarray(problem.op_group, np.int32),
      devices=problem.devices.names,
    )
    held.problem, held.loaded = problem.fingerprint, None

  def _lane(
    self, role: str, layout: layout_lib.ProcessLayout | None = None
  ) -> _Held:
    """The lane of a role; `layout` where it is not the pool's."""
    held = self._held.get(role)
    if held is not None and not held.lane.is_idle_and_well():
      self.close_lane(role)
    if role not in self._held:
      lane = self._new_lane(role, layout or self._layout)
      self._held[role] = _Held(lane)
      try:
        self.call(
          role,
          'set_program',
          program=self._program,
          feed_values=self._feed_values,
          seed=self._options.seed,
        )
      except lane_lib.FailedError:
        # It has no program, so each later call would fail for another reason.
        self.close_lane(role)
        raise
    return self._held[role]

  def _new_lane(
    self, role: str, layout: layout_lib.ProcessLayout
  ) -> lane_lib.Lane:
    self._number += 1
    if role == 'host':
      layout = layout_lib.ProcessLayout(
        host_cores=layout.host_cores, gpus=layout.gpus
      )
    elif role == 'links':
      layout = dataclasses.replace(layout, memory_limits={})
    spec = lane_spec.LaneSpec(
      role,
      layout,
      str(self._work_dir / f'{role}{self._number}.log'),
      self._program.op_libraries,
      sequential=role == 'profile',
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
      gpus=self._layout.gpus > 0,
    )

  def _timeouts(self) -> dict[str, float]:
    retry = memory_cap.RETRY_SECONDS if self._layout.memory_limits else 0.0
    return self._options.timeouts(self._slowest_setup, retry)
