"""SessionMeasurer: runs candidates in TensorFlow sessions on real devices.

Nothing of TensorFlow's runtime starts in this process: see `processes/`. A
candidate that fails costs at most its lane, which the next call replaces.
"""

import dataclasses
import pathlib
import statistics
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from placer.core import device as device_lib
from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.core import program as program_lib
from placer.devices import target
from placer.measurers import base
from placer.measurers import feeds as feeds_lib
from placer.measurers import lane_pool
from placer.measurers import session_options
from placer.measurers.processes import lane as lane_lib

_STEPS_BEFORE_GIVING_UP = 2


class SessionMeasurer(base.Measurer):
  """Runs candidates in sessions; see the module docstring."""

  def __init__(
      self,
      program: program_lib.Program,
      topology: device_lib.DeviceTopology,
      options: session_options.SessionOptions | None = None,
  ) -> None:
    """Checks the inputs and starts the nursery.

    Args:
      program: what a step computes.
      topology: the devices, from `placer.devices.target.resolve`.
      options: how to measure; None for the defaults.

    Raises:
      UsageError: the feeds file does not fit, or the program has side effects
        that are not allowed.
    """
    self.options = options or session_options.SessionOptions()
    self.topology = topology
    self._feed_values = _feed_values(program, self.options)
    self._program = program
    self._temporary = None
    work_dir = self.options.work_dir
    if not work_dir:
      self._temporary = tempfile.TemporaryDirectory(prefix='placer-')
      work_dir = self._temporary.name
    self._lanes = lane_pool.LanePool(
        program,
        self._feed_values,
        target.layout(topology),
        self.options,
        pathlib.Path(work_dir),
    )

  def measure(
      self,
      problem: placement_problem.PlacementProblem,
      candidates: np.ndarray,
      *,
      reference: np.ndarray | None = None,
      steps: int | None = None,
      give_up_ratio: float | None = None,
  ) -> Sequence[measurement_lib.Measurement]:
    """See `Measurer.measure`."""
    candidates = [np.asarray(candidate) for candidate in candidates]
    for candidate in candidates + [reference] * (reference is not None):
      problem.check(candidate)
    return [
        self._measure_one(
            problem,
            candidate,
            reference,
            steps or self.options.steps,
            give_up_ratio,
        )
        for candidate in candidates
    ]

  def close(self) -> None:
    """Ends every process that was started; safe to call twice."""
    self._lanes.close()
    if self._temporary is not None:
      self._temporary.cleanup()
      self._temporary = None

  def _measure_one(
      self,
      problem: placement_problem.PlacementProblem,
      candidate: np.ndarray,
      reference: np.ndarray | None,
      steps: int,
      give_up_ratio: float | None,
  ) -> measurement_lib.Measurement:
    try:
      loaded = self._lanes.load('candidate', problem, candidate)
      times, reference_times = self._timed_steps(
          problem, reference, steps, give_up_ratio
      )
      read_back = self._lanes.call('candidate', 'read_back')
    except lane_lib.FailedError as error:
      return _failed(error, self._program)
    path = self._program.path
    return measurement_lib.Measurement(
        measurement_lib.Status.OK,
        step_times_seconds=times,
        reference_times_seconds=reference_times,
        setup_seconds=loaded.setup_seconds,
        peak_memory_bytes=read_back.peak_memory_bytes,
        actual_devices={
            path(name): device
            for name, device in read_back.actual_devices.items()
        },
        removed_ops=read_back.removed_ops,
        moved_ops=tuple(path(name) for name in read_back.moved_ops),
        partition_hash=read_back.partition_hash,
        details={
            'peak_memory_source': read_back.peak_memory_source,
            'warm_up_seconds': list(loaded.warm_up_seconds),
        },
    )

  def _timed_steps(
      self,
      problem: placement_problem.PlacementProblem,
      reference: np.ndarray | None,
      steps: int,
      give_up_ratio: float | None,
  ) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if reference is None:
      return self._lanes.call('candidate', 'step', count=steps), ()
    self._lanes.load('reference', problem, reference)
    times: list[float] = []
    reference_times: list[float] = []
    for i in range(steps):
      times += self._lanes.call('candidate', 'step', count=1)
      reference_times += self._lanes.call('reference', 'step', count=1)
      if give_up_ratio is not None and i + 1 >= _STEPS_BEFORE_GIVING_UP:
        slow = statistics.median(times) / statistics.median(reference_times)
        if slow > give_up_ratio:
          break
    return tuple(times), tuple(reference_times)


def _failed(
    error: lane_lib.FailedError, program: program_lib.Program
) -> measurement_lib.Measurement:
  details: dict[str, Any] = dict(error.failure.details)
  if 'op' in details:
    details['op'] = program.path(details['op'])
  return measurement_lib.Measurement(
      error.failure.status, error.failure.reason, details=details
  )


def _feed_values(
    program: program_lib.Program, options: session_options.SessionOptions
) -> tuple[np.ndarray, ...]:
  if options.feeds_file:
    return feeds_lib.load(program.feeds, options.feeds_file)
  if options.feed_values is not None:
    return feeds_lib.check(program.feeds, options.feed_values, 'feed_values')
  return feeds_lib.make(program.feeds, options.seed)
