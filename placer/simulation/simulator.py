"""Simulator: a step of a placement, event by event.

    simulator = Simulator(problem, cost_model)
    batch = simulator.simulate(candidates)        # int [B, G]: times and peaks
    schedule = simulator.schedule(candidate)      # int [G]: every start and end

Letters: `N` ops, `G` groups, `D` devices, `B` candidates.

What a step is. Two implementations keep to this to the bit: `kernel.py`,
compiled, and `reference.py`, plain Python, the oracle of the tests.

* An op runs on the device of its group. It is ready when all its inputs, of
  data and of control, are there, and joins the queue of its device; an op
  without inputs is ready at 0. Edges that close a loop are left out: what is
  in a loop takes the time of all its runs at once.
* A device has `concurrency` slots. A free slot takes the first waiting
  *service* (below); if there is none, the op that became ready first, or, with
  priorities, the one with the smallest number, then with the smallest index.
* An op that has had its slot for `slice_seconds` goes behind all that wait and
  all that become ready meanwhile (threads that wake up come before those that
  used the core), and goes on with its next turns; not with priorities.
* On a `threaded` device (TensorFlow's executor), of the ops that an op's end
  makes ready, those below 4 us are next, or else the last; not with priorities.
* An op holds its slot for `op_runs * op_seconds + (op_runs - 1) * gap`. Then
  its results are out; the slot is free after another gap.
* An output is told to the readers on the same device at once, and sent once
  to each other device with readers, in the order of their first readers.
  Outputs go in order, the control signal (all control edges of the op, one
  tensor of no bytes) last. What is sent goes through up to three stages, with
  n sends a step and the costs of the link between the two devices
  (`host_links` if the tensor is in host memory at its source):
    1. send service on the source, n * per message + n * bytes * per byte;
    2. wire: the channel takes one tensor after the other, in the order in
       which they come, for n * message_seconds + n * bytes / bytes_per_second;
       the tensor arrives n * latency_seconds later;
    3. receive service on the target, likewise. Then its readers are told.
  A service that costs nothing is left out.
* Memory. A device holds the persistent bytes of its ops all the time. An op's
  temporaries and outputs are taken when it starts; threaded, when it is ready,
  since a thread has begun it. When it ends, its temporaries go, and outputs
  that nobody reads. Others go when their readers on the device have ended and
  their sends have arrived; a received tensor takes its bytes on arrival and
  goes when its readers have ended. A tensor that shares a buffer takes nothing
  and keeps it alive. Tensors in host memory are not counted.
* Events are handled one by one, by time, then kind (an op ends, a slot frees
  after a gap, a tensor arrives, is sent, is received, a slice ends), then op or
  signal, then device. After each, free slots of that device take what waits.
* The step ends when the last op ends.

Left out: copies between a device and its host memory, memory that the network
holds, memory fragmentation, ops slowing each other down.
"""

import collections
import concurrent.futures
import os

import numpy as np

from placer.core import cost_model as cost_model_lib
from placer.core import placement_problem
from placer.core import schedule as schedule_lib
from placer.simulation import log_reader
from placer.simulation import records
from placer.simulation import signal_graph
from placer.simulation import simulation_batch
from placer.simulation import state_arrays
from placer.simulation import step_arrays

# Handing work to threads takes some 0.1 ms; batches below a few times that
# (in placements times ops and edges, at about 20 ns) stay in one.
_WORTH_THREADS = 25_000
_CHUNKS_PER_THREAD = 4

_States = dict[tuple[bool, bool], list[records.State]]


class Simulator:
  """Simulates placements of one problem; see the module docstring.

  Arrays are made once. May be used by several threads at once.
  """

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    cost_model: cost_model_lib.CostModel,
    *,
    threads: int | None = None,
  ) -> None:
    """Prepares the arrays.

    Args:
      problem: G groups of N ops on D devices.
      cost_model: of the same graph and devices.
      threads: for large batches; None takes a thread for each usable core.

    Raises:
      ValueError: the cost model is of something else, or an edge of the graph
        goes backwards without being marked.
    """
    # numba takes 0.3 s to import: only for those who simulate.
    from placer.simulation import kernel

    self._kernel = kernel
    self._problem = problem
    self._costs = cost_model
    self._signals = signal_graph.build(problem.graph)
    self._step = step_arrays.build(problem, self._signals, cost_model)
    self._threads = threads or len(os.sched_getaffinity(0))
    # By whether there are priorities, and starts to be kept.
    self._states: _States = collections.defaultdict(list)

  def with_costs(self, cost_model: cost_model_lib.CostModel) -> 'Simulator':
    """A Simulator of the same problem with other costs, made faster."""
    other = object.__new__(Simulator)
    other.__dict__.update(self.__dict__)
    other._costs = cost_model
    other._step = step_arrays.build(self._problem, self._signals, cost_model)
    other._states = collections.defaultdict(list)
    return other

  def simulate(
    self, candidates: np.ndarray, *, priority: np.ndarray | None = None
  ) -> simulation_batch.SimulationBatch:
    """Simulates B candidates.

    Args:
      candidates: int `[B, G]`; one that is not legal gets the status
        invalid_placement.
      priority: float `[N]`, smaller runs first; None for first ready, first
        served.

    Returns:
      The SimulationBatch.

    Raises:
      ValueError: a wrong shape.
    """
    results = self._run(candidates, priority, starts=False)
    return simulation_batch.SimulationBatch(
      status=results.status,
      unbounded_seconds=results.seconds,
      peak_bytes=results.peak_bytes,
      memory_bytes=self._costs.memory_bytes,
    )

  def op_start_seconds(
    self, candidates: np.ndarray, *, priority: np.ndarray | None = None
  ) -> np.ndarray:
    """float64 `[B, N]`: when each op starts; NaN where not legal.

    Args:
      candidates: as in `simulate`.
      priority: as in `simulate`.

    Raises:
      ValueError: a wrong shape.
    """
    return self._run(candidates, priority, starts=True).op_start_seconds

  def schedule(
    self, candidate: np.ndarray, *, priority: np.ndarray | None = None
  ) -> schedule_lib.Schedule:
    """Simulates one candidate and tells all that happens.

    Args:
      candidate: int `[G]`, legal.
      priority: as in `simulate`.

    Returns:
      The Schedule.

    Raises:
      ValueError: the candidate is not legal.
    """
    self._problem.check(candidate)
    batch = _as_batch(np.asarray(candidate)[np.newaxis], self._problem)
    state = state_arrays.make(self._step, self._ranked(priority), log=True)
    results = state_arrays.make_results(self._step, 1)
    self._kernel.run_batch(self._step, state, batch, 0, 1, results)
    return log_reader.LogReader(
      self._problem, self._costs, self._signals, batch[0], state.log
    ).schedule(
      simulation_batch.STATUSES[results.status[0]],
      float(results.seconds[0]),
      results.peak_bytes[0],
    )

  def _run(self, candidates, priority, *, starts: bool) -> records.Results:
    batch = _as_batch(candidates, self._problem)
    ranked = self._ranked(priority)
    results = state_arrays.make_results(self._step, len(batch), starts=starts)

    size = len(self._signals.readers) + len(self._step.op_starts)
    threads = min(self._threads, len(batch) * size // _WORTH_THREADS)
    chunks = _chunks(len(batch), threads * _CHUNKS_PER_THREAD)

    def work() -> None:
      key = (ranked is not None, starts)
      state = self._take_state(key, ranked)
      while True:
        try:
          first, last = chunks.pop()
        except IndexError:
          break
        self._kernel.run_batch(self._step, state, batch, first, last, results)
      self._states[key].append(state)

    if threads <= 1:
      work()
      return results
    # Threads of this call only: those that lived on would not survive a fork.
    with concurrent.futures.ThreadPoolExecutor(threads - 1) as pool:
      others = [pool.submit(work) for _ in range(threads - 1)]
      work()
      for other in others:
        other.result()
    return results

  def _take_state(
    self, key: tuple[bool, bool], ranked: np.ndarray | None
  ) -> records.State:
    """A State that no other thread uses; old ones are used again."""
    try:
      state = self._states[key].pop()
    except IndexError:
      return state_arrays.make(self._step, ranked, starts=key[1])
    if ranked is not None:
      state_arrays.set_ranked(state, ranked)
    return state

  def _ranked(self, priority: np.ndarray | None) -> np.ndarray | None:
    """int32 `[N]`: ops in the order of their priority, then their index."""
    if priority is None:
      return None
    priority = np.asarray(priority)
    if priority.shape != (len(self._step.op_starts),):
      raise ValueError(
        f'priority has shape {priority.shape}, needs '
        f'({len(self._step.op_starts)},): a number for each op.'
      )
    return np.argsort(priority, kind='stable').astype(np.int32)


def simulate(
  problem: placement_problem.PlacementProblem,
  cost_model: cost_model_lib.CostModel,
  candidates: np.ndarray,
) -> simulation_batch.SimulationBatch:
  """Simulates B candidates once; make a Simulator to do so again.

  Args:
    problem: G groups of N ops on D devices.
    cost_model: of the same graph and devices.
    candidates: as in `Simulator.simulate`, and so is what is returned.
  """
  return Simulator(problem, cost_model).simulate(candidates)


def schedule(
  problem: placement_problem.PlacementProblem,
  cost_model: cost_model_lib.CostModel,
  candidate: np.ndarray,
) -> schedule_lib.Schedule:
  """Simulates one candidate and tells all that happens.

  Args:
    problem: G groups of N ops on D devices.
    cost_model: of the same graph and devices.
    candidate: int `[G]`, legal.

  Returns:
    The Schedule.

  Raises:
    ValueError: the candidate is not legal.
  """
  return Simulator(problem, cost_model).schedule(candidate)


def _as_batch(candidates, problem) -> np.ndarray:
  """int32 `[B, G]`, contiguous."""
  batch = np.ascontiguousarray(candidates, np.int32)
  if batch.ndim != 2 or batch.shape[1] != problem.num_groups:
    raise ValueError(
      f'Candidates have shape {batch.shape}, need [B, {problem.num_groups}].'
    )
  return batch


def _chunks(count: int, most: int) -> list[tuple[int, int]]:
  """Up to `most` pairs (first, last) that share `count` candidates."""
  pieces = max(min(most, count), 1)
  bounds = [count * i // pieces for i in range(pieces + 1)]
  return list(zip(bounds[:-1], bounds[1:], strict=True))
