"""LaneServer: what a measuring process can be asked to do.

Its methods are called by name, from `processes/lane_process.py`. The order:

    set_program(...)
    set_problem(...)              again whenever the problem changes
    load(candidate)               or load(None): as TensorFlow places it
    step(count) ...
    read_back()
"""

import dataclasses
import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2

from placer.core import program as program_lib
from placer.core import step_profile
from placer.devices import layout as layout_lib
from placer.measurers import link_load
from placer.measurers import link_timing
from placer.measurers import measured_graph
from placer.measurers import partitions
from placer.measurers import step_session
from placer.measurers import step_trace
from placer.rewriters import verify

_WARM_UP_TOLERANCE = 0.05
_PROFILE_WARM_UP_STEPS = 3
_MIN_TRACES = 3
_MAX_TRACES = 12


@dataclasses.dataclass(frozen=True)
class Loaded:
  """What loading a placement gave.

  Attributes:
    setup_seconds: placing, import, set-up ops and the first step.
    warm_up_seconds: the steps of the warm-up, the first one first.
  """

  setup_seconds: float
  warm_up_seconds: tuple[float, ...]


class LaneServer:
  """Holds one program and one session at a time."""

  def __init__(
    self,
    layout: layout_lib.ProcessLayout,
    target: str,
    announce: Callable[[str], None],
    assign_cores: Callable[[], None] = lambda: None,
    *,
    free_memory: Callable[[], None] = lambda: None,
    sequential: bool = False,
  ) -> None:
    """Makes a server without a program.

    Args:
      layout: the processes; decides the session's configuration.
      target: of the session, '' for one in this process.
      announce: is told the phase that begins now, 'setup' or 'step'.
      assign_cores: called when the workers have run a graph, so that all their
        threads are there; see `processes/thread_cores.py`.
      free_memory: called when a session has ended, so that its memory can be
        given back; see `processes/free_memory.py`.
      sequential: run one op at a time.
    """
    self._assign_cores = assign_cores
    self._free_memory = free_memory
    self._sequential = sequential
    self._layout = layout
    self._target = target
    self._announce = announce
    self._program: program_lib.Program | None = None
    self._measured: measured_graph.MeasuredGraph | None = None
    self._feed_values: Sequence[np.ndarray] = ()
    self._op_names: Sequence[str] = ()
    self._op_group: np.ndarray | None = None
    self._devices: Sequence[str] = ()
    self._requested: Mapping[str, str] = {}
    self._session: step_session.StepSession | None = None

  def set_program(
    self,
    program: program_lib.Program,
    feed_values: Sequence[np.ndarray],
    seed: int,
  ) -> None:
    """Takes the program that all later calls are about."""
    self.unload()
    self._program = program
    self._feed_values = feed_values
    self._measured = measured_graph.build(program, seed=seed)

  def set_problem(
    self,
    op_names: Sequence[str],
    op_group: np.ndarray,
    devices: Sequence[str],
  ) -> None:
    """Takes working names of the N ops, their groups, names of D devices."""
    self._op_names = op_names
    self._op_group = op_group
    self._devices = devices

  def load(self, candidate: np.ndarray | None, warm_up_steps: int) -> Loaded:
    """Makes a session with a placement and warms it up.

    Args:
      candidate: int32 `[G]`, or None to let TensorFlow place all ops.
      warm_up_steps: at most so many steps after the first one.

    Returns:
      What it took.
    """
    self._announce('setup')
    began = time.perf_counter()
    self._open(candidate, self._measured)
    self._announce('first step')
    times = [self._session.step()]
    self._assign_cores()
    setup_seconds = time.perf_counter() - began
    for _ in range(warm_up_steps):
      self._announce('step')
      times.append(self._session.step())
      if abs(times[-1] - times[-2]) < _WARM_UP_TOLERANCE * times[-2]:
        break
    return Loaded(setup_seconds, tuple(times))

  def step(self, count: int) -> tuple[float, ...]:
    """Runs `count` steps; returns the seconds of each."""
    times = []
    for _ in range(count):
      self._announce('step')
      times.append(self._session.step())
    return tuple(times)

  def read_back(self) -> partitions.ReadBack:
    """What was really run where; see `partitions.ReadBack`."""
    self._announce('setup')
    metadata = self._session.traced_step()
    return partitions.read(
      metadata,
      self._requested,
      shared_allocator=self._layout.logical_cpus > 1,
    )

  def trace(self, steps: int) -> tuple[bytes, ...]:
    """Runs steps with traces; returns a serialised RunMetadata of each."""
    traces = []
    for _ in range(steps):
      self._announce('step')
      traces.append(self._traced_step().SerializeToString())
    return tuple(traces)

  def profile(
    self, tensor_source: np.ndarray, device: str, seconds: float
  ) -> step_profile.StepProfile:
    """Profiles the program on the one device of this process.

    Args:
      tensor_source: int32 `[T]`, of the problem.
      device: full name of the device.
      seconds: of traced and untraced steps in turn; at least three of each.

    Returns:
      The StepProfile.
    """
    self.load(None, _PROFILE_WARM_UP_STEPS)
    self._traced_step()  # the first one sets up the tracers
    traces, times = [], []
    end = time.perf_counter() + seconds
    while len(traces) < _MIN_TRACES or (
      time.perf_counter() < end and len(traces) < _MAX_TRACES
    ):
      self._announce('step')
      times.append(self._session.step())
      traces.append(self._traced_step())
    self.unload()
    return step_trace.read(
      traces, self._op_names, tensor_source, device, statistics.median(times)
    )

  def fetch(
    self, candidate: np.ndarray | None, steps: int, variables: bool
  ) -> dict[str, np.ndarray]:
    """The values that a placement computes, from a fresh initial state.

    Args:
      candidate: int32 `[G]`, or None to let TensorFlow place all ops.
      steps: run so many in all, at least 1.
      variables: whether to return variables, too.

    Returns:
      {tensor name: value in the first step}, and {variable's name: value
      after the last step}.
    """
    self._announce('setup')
    measured, reads = self._measured, {}
    if variables:
      measured, reads = measured_graph.with_variable_reads(measured)
    self._open(candidate, measured)
    self._announce('first step')
    values = self._session.fetch(self._program.fetches)
    for _ in range(steps - 1):
      self._announce('step')
      self._session.step()
    if reads:
      read_values = self._session.fetch(tuple(reads.values()))
      values |= {name: read_values[read] for name, read in reads.items()}
    self.unload()
    return values

  def measure_links(
    self, devices: Sequence[str], pairs: Sequence[tuple[int, int]]
  ) -> tuple[list[tuple[tuple[int, float], ...]], list[link_load.Load]]:
    """What `link_timing.measure` and `link_load.measure` find."""
    self.unload()
    how = {
      'target': self._target,
      'config': step_session.config(self._layout, soft_placement=False),
      'announce': self._announce,
    }
    self._assign_cores()
    samples = link_timing.measure(devices, pairs, **how)
    self._assign_cores()  # now that all threads are there
    return samples, link_load.measure(devices, pairs, **how)

  def unload(self) -> None:
    """Ends the session, which frees its variables."""
    if self._session is not None:
      self._session.close()
      self._session = None
      gc.collect()
      self._free_memory()

  def _traced_step(self) -> config_pb2.RunMetadata:
    return self._session.traced_step(kernels=self._layout.gpus > 0)

  def _open(
    self,
    candidate: np.ndarray | None,
    measured: measured_graph.MeasuredGraph,
  ) -> None:
    """Opens a session with a placed graph and sets it up."""
    self.unload()
    self._session = step_session.StepSession(
      self._placed(candidate, measured),
      measured.fetch_ops,
      target=self._target,
      config=step_session.config(
        self._layout,
        soft_placement=candidate is None,
        sequential=self._sequential,
      ),
    )
    self._session.set_up(
      measured.setup_ops,
      [
        (feed.assign, feed.value, value)
        for feed, value in zip(measured.feeds, self._feed_values, strict=True)
      ],
    )

  def _placed(
    self,
    candidate: np.ndarray | None,
    measured: measured_graph.MeasuredGraph,
  ) -> graph_pb2.GraphDef:
    if candidate is None:
      self._requested = {}
      return measured.graph_def
    columns = np.asarray(candidate)[self._op_group]
    self._requested = {
      name: self._devices[column]
      for name, column in zip(self._op_names, columns, strict=True)
    }
    placed = measured_graph.place(measured, self._requested, self._devices[0])
    verify.verify(measured.graph_def, placed)
    return placed
