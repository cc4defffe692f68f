"""SessionMeasurer: runs candidates in TensorFlow sessions on real devices.

Nothing of TensorFlow's runtime starts in this process: see `processes/`. A
candidate that fails costs at most its lane, which the next call replaces.
"""

import dataclasses
import pathlib
import tempfile
from collections.abc import Sequence

import numpy as np

from placer.core import device as device_lib
from placer.core import measurement as measurement_lib
from placer.core import placement_problem
from placer.core import program as program_lib
from placer.core import step_profile
from placer.devices import link_cache
from placer.devices import link_fit
from placer.devices import link_pairs
from placer.devices import target
from placer.measurers import base
from placer.measurers import feeds as feeds_lib
from placer.measurers import lane_pool
from placer.measurers import outcome
from placer.measurers import paired_steps
from placer.measurers import profiler
from placer.measurers import session_options
from placer.measurers import side_effects
from placer.measurers.processes import lane as lane_lib


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
    feed_values = feeds_lib.choose(
      program.feeds,
      path=self.options.feeds_file,
      arrays=self.options.feed_values,
      seed=self.options.seed,
    )
    self._feed_values = feed_values
    side_effects.refuse_program(program, self.options.allow_side_effects)
    self._program = program
    self._temporary = None
    work_dir = self.options.work_dir
    if not work_dir:
      self._temporary = tempfile.TemporaryDirectory(prefix='placer-')
      work_dir = self._temporary.name
    self._lanes = lane_pool.LanePool(
      program,
      feed_values,
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
    pairing = paired_steps.Pairing(
      problem, reference, steps or self.options.steps, give_up_ratio
    )
    return [
      self._measure_one('candidate', candidate, pairing)
      for candidate in candidates
    ]

  def measure_whole_host(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    reference: np.ndarray | None = None,
    steps: int | None = None,
  ) -> measurement_lib.Measurement:
    """Measures the program without any placement: one process, all cores.

    Args:
      problem: what `reference` places.
      reference: int32 `[G]`, a candidate to interleave with, or None.
      steps: timed steps; None for the default.

    Returns:
      A Measurement; nothing was requested, so nothing moved.

    Raises:
      ValueError: the reference is not legal for `problem`.
    """
    if reference is not None:
      problem.check(reference)
    pairing = paired_steps.Pairing(
      problem, reference, steps or self.options.steps, None
    )
    return self._measure_one('host', None, pairing)

  def fetch_values(
    self,
    problem: placement_problem.PlacementProblem,
    candidate: np.ndarray,
    *,
    steps: int = 1,
    variables: bool = False,
  ) -> dict[str, np.ndarray]:
    """The values that a placement computes.

    Args:
      problem: what the candidate places.
      candidate: int32 `[G]`.
      steps: how many steps to run in all.
      variables: whether to return the variables after the last step, too.

    Returns:
      {fetched tensor: value in the first step from fresh initial values}, of
      a fetched op all its outputs; and {variable's working name: value}.

    Raises:
      ValueError: the candidate is not legal for `problem`.
      FailedError: it does not run.
    """
    problem.check(candidate)
    return self._lanes.fetch('candidate', problem, candidate, steps, variables)

  def unplaced_values(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    steps: int = 1,
    variables: bool = False,
  ) -> dict[str, np.ndarray]:
    """Like `fetch_values`, in one process without any placement."""
    return self._lanes.fetch('host', problem, None, steps, variables)

  def measure_links(
    self, *, use_cache: bool = True
  ) -> tuple[device_lib.Link, ...]:
    """Measures what moving tensors between the devices costs.

    Args:
      use_cache: whether to take them from `link_cache` if they are there.

    Returns:
      One link for each ordered pair of devices; () for a single device.

    Raises:
      FailedError: a step did not run.
    """
    if use_cache:
      links = link_cache.load(self.topology)
      if links is not None:
        return links
    pairs = link_pairs.to_measure(self.topology)
    if not pairs:
      return ()
    samples = self._lanes.call(
      'links', 'measure_links', devices=self.topology.names, pairs=pairs
    )
    self._lanes.close_lane('links')
    links = link_pairs.complete(
      self.topology,
      [
        link_fit.fit(source, to, each, dataclasses.astuple(load))
        for (source, to), each, load in zip(pairs, *samples, strict=True)
      ],
    )
    link_cache.save(self.topology, links)
    return links

  def profile(
    self,
    problem: placement_problem.PlacementProblem,
    *,
    seconds: float = 6.0,
    use_cache: bool = True,
  ) -> dict[int, step_profile.StepProfile]:
    """Profiles the program on each kind of device.

    Args:
      problem: N ops on D devices.
      seconds: of steps on each kind of device.
      use_cache: whether to take profiles from `profile_cache` if they are
        there.

    Returns:
      {device: StepProfile}; devices on which the program does not run are
      missing.
    """
    return profiler.profile(
      self._lanes,
      problem,
      self.topology,
      f'{self._program.fingerprint}\n{feeds_lib.digest(self._feed_values)}',
      seconds=seconds,
      use_cache=use_cache,
    )

  def trace(
    self,
    problem: placement_problem.PlacementProblem,
    candidate: np.ndarray,
    *,
    steps: int = 1,
  ) -> tuple[bytes, ...]:
    """Runs steps of a placement with traces; `step_timeline.py` reads them.

    Args:
      problem: what the candidate places.
      candidate: int32 `[G]`.
      steps: how many to trace, after a warm-up.

    Returns:
      A serialised RunMetadata a step.

    Raises:
      ValueError: the candidate is not legal for `problem`.
      FailedError: it does not run.
    """
    problem.check(candidate)
    self._lanes.load('candidate', problem, candidate)
    # The first trace of a session sets up the tracers.
    return self._lanes.call('candidate', 'trace', steps=1 + steps)[1:]

  @property
  def nursery_pid(self) -> int:
    """The process that started all others."""
    return self._lanes.nursery_pid

  def lane_pid(self, role: str) -> int:
    """The client process of a role: 'candidate', 'reference' or 'host'.

    Raises:
      KeyError: it was not needed yet.
    """
    return self._lanes.lane_pid(role)

  def close(self) -> None:
    """Ends every process that was started; safe to call twice."""
    self._lanes.close()
    if self._temporary is not None:
      self._temporary.cleanup()
      self._temporary = None

  def _measure_one(
    self, role: str, candidate: np.ndarray | None, pairing: paired_steps.Pairing
  ) -> measurement_lib.Measurement:
    try:
      loaded = self._lanes.load(role, pairing.problem, candidate)
      times, reference_times, trouble = paired_steps.run(
        self._lanes, role, pairing
      )
      read_back = self._lanes.call(role, 'read_back')
    except lane_lib.FailedError as error:
      return outcome.failed(
        error.failure, self._program, pairing.problem.graph.names
      )
    return outcome.ran(
      self._program,
      self.topology,
      measurement_lib.Measurement(
        measurement_lib.Status.OK,
        step_times_seconds=times,
        reference_times_seconds=reference_times,
        setup_seconds=loaded.setup_seconds,
        details={'warm_up_seconds': list(loaded.warm_up_seconds)} | trouble,
      ),
      read_back,
    )
