"""The simulator in plain Python: slow, and the oracle of the tests.

    reference = Reference(problem, cost_model)
    schedule = reference.schedule(candidate)

It keeps to what `simulator.py` says, and shares no code with the compiled
implementation: dicts, lists, names of what holds memory instead of sums.
"""

import collections
import heapq
import math

import numpy as np

from placer.core import cost_model as cost_model_lib
from placer.core import measurement
from placer.core import placement_problem
from placer.core import schedule as schedule_lib
from placer.simulation import reference_memory
from placer.simulation import reference_queue
from placer.simulation import reference_signals
from placer.simulation import simulation_batch

_OP_ENDS, _SLOT_FREES, _ARRIVES, _SENT, _RECEIVED, _SLICE_ENDS = range(6)


class Reference:
  """Simulates one placement after the other; see the module docstring."""

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    cost_model: cost_model_lib.CostModel,
  ) -> None:
    """Reads the graph; the cost model is of the same graph and devices."""
    self.problem = problem
    self.costs = cost_model
    self.signals = reference_signals.Signals(problem, cost_model)

  def schedule(
    self, candidate: np.ndarray, *, priority: np.ndarray | None = None
  ) -> schedule_lib.Schedule:
    """Simulates one candidate.

    Args:
      candidate: int `[G]`, legal.
      priority: float `[N]`, smaller runs first; None for first ready, first
        served.

    Returns:
      The Schedule.
    """
    devices = np.asarray(candidate)[self.problem.op_group].tolist()
    step = _Step(self, devices, priority)
    step.run()
    return step.schedule()


class _Step:
  """One step of one placement."""

  def __init__(self, reference: Reference, devices, priority) -> None:
    self.graph = reference.problem.graph
    self.names = reference.problem.devices.names
    self.costs = reference.costs
    self.signals = reference.signals
    self.device = devices
    count = len(self.names)
    self.waits = [len(signals) for signals in reference.signals.inputs]
    self.events = []
    self.ready = reference_queue.ReadyQueues(count, priority)
    self.has_slices = priority is None
    self.left = {}
    self.services = [collections.deque() for _ in range(count)]
    self.busy = [0] * count
    self.channel_free = collections.defaultdict(float)
    self.uses = {}
    self.start = [math.inf] * len(self.graph)
    self.end = [math.inf] * len(self.graph)
    self.wires, self.arrivals, self.serviced = {}, {}, []
    self.memory = reference_memory.Ledger(count)

  def run(self) -> None:
    """Handles all events."""
    for op, size in enumerate(self.graph.persistent_bytes.tolist()):
      self.memory.hold(self.device[op], ('persistent', op, -1), size, 0.0)
    for op, count in enumerate(self.waits):
      if not count:
        self.make_ready(op, 0.0)
    for device in range(len(self.names)):
      self.fill_slots(device, 0.0)
    while self.events:
      now, kind, index, device = heapq.heappop(self.events)
      if kind == _OP_ENDS:
        self.end_op(index, device, now)
      elif kind == _SLICE_ENDS:
        self.ready.resume(index, device)
        self.busy[device] -= 1
      elif kind == _ARRIVES:
        self.arrive(index, device, now)
      elif kind == _SENT:
        self.start_wire(index, device, now)
        device = self.device[index[0]]
        self.busy[device] -= 1
      else:
        if kind == _RECEIVED:
          self.tell(index, device, now)
        self.busy[device] -= 1
      self.fill_slots(device, now)

  def make_ready(self, op, now) -> None:
    device = self.device[op]
    if self.costs.threaded[device]:
      self.take_memory(op, device, now)
    self.ready.add(op, device)

  def fill_slots(self, device, now) -> None:
    while self.busy[device] < self.costs.concurrency[device]:
      if self.services[device]:
        kind, signal, target, seconds = self.services[device].popleft()
        self.serviced.append((now + seconds, kind, signal, target, now, device))
        self.push(now + seconds, kind, signal, target)
      elif self.ready[device]:
        self.run_op(self.ready.take(device), device, now)
      else:
        break
      self.busy[device] += 1

  def run_op(self, op, device, now) -> None:
    if op not in self.left:
      self.start[op] = now
      self.left[op] = self.seconds(op, device)
      if not self.costs.threaded[device]:
        self.take_memory(op, device, now)
    limit = float(self.costs.slice_seconds[device])
    if self.has_slices and limit < self.left[op] < math.inf:
      self.left[op] -= limit
      self.push(now + limit, _SLICE_ENDS, op, device)
    else:
      self.push(now + self.left[op], _OP_ENDS, op, device)

  def seconds(self, op, device) -> float:
    runs = int(self.costs.op_runs[op])
    seconds = float(self.costs.op_seconds[op, device]) * runs
    return seconds + float(self.costs.gap_seconds[op, device]) * (runs - 1)

  def take_memory(self, op, device, now) -> None:
    temporary = int(self.costs.temporary_bytes[op])
    self.memory.hold(device, ('temporary', op, -1), temporary, now)
    for tensor in self.signals.tensors[op]:
      is_in_host = self.costs.host_output[tensor, device]
      size = 0 if is_in_host else int(self.costs.resident_bytes[tensor])
      self.memory.hold(device, ('output', op, tensor), size, now)

  def end_op(self, op, device, now) -> None:
    self.end[op] = now
    self.memory.drop(device, ('temporary', op, -1), now)
    for tensor in self.signals.tensors[op]:
      if (op, tensor) not in self.signals.readers:
        self.memory.drop(device, ('output', op, tensor), now)
    self.ready.told = []
    for signal in self.signals.of_op[op]:
      self.hand_out(signal, device, now)
    if self.costs.threaded[device]:
      self.ready.advance(device, lambda told: self.seconds(told, device))
    for signal in sorted(self.signals.inputs[op]):
      self.release(signal, device, now)
    gap = float(self.costs.gap_seconds[op, device])
    if gap > 0:
      self.push(now + gap, _SLOT_FREES, 0, device)
    else:
      self.busy[device] -= 1

  def hand_out(self, signal, device, now) -> None:
    readers = self.signals.readers[signal]
    targets = list(dict.fromkeys(self.device[op] for op in readers))
    for target in targets:
      self.uses[signal, target] = sum(
        self.device[op] == target for op in readers
      )
    others = [target for target in targets if target != device]
    self.uses[signal, device] = self.uses.get((signal, device), 0) + len(others)
    shared = self.signals.shared(signal)
    if shared:
      self.uses[shared, device] += 1
    self.tell(signal, device, now)
    for target in others:
      seconds = self.signals.service(signal, device, target, 'send')
      if seconds is None:
        self.start_wire(signal, target, now)
      else:
        self.services[device].append((_SENT, signal, target, seconds))

  def tell(self, signal, device, now) -> None:
    for op in self.signals.readers[signal]:
      if self.device[op] == device:
        self.waits[op] -= 1
        if not self.waits[op]:
          self.make_ready(op, now)

  def start_wire(self, signal, target, now) -> None:
    source = self.device[signal[0]]
    links = self.signals.links(signal, source)
    sends, size = self.signals.sends(signal), self.signals.size(signal)
    channel = links.channel[source, target]
    start = max(now, self.channel_free[channel])
    free = start + (
      sends * float(links.message_seconds[source, target])
      + size * sends / float(links.bytes_per_second[source, target])
    )
    self.channel_free[channel] = free
    self.wires[signal, target] = start
    latency = sends * float(links.latency_seconds[source, target])
    self.push(free + latency, _ARRIVES, signal, target)

  def arrive(self, signal, device, now) -> None:
    self.arrivals[signal, device] = now
    op, tensor = signal
    size = 0
    if (
      tensor != reference_signals.CONTROL
      and not self.costs.host_output[tensor, device]
    ):
      size = self.signals.size(signal)
    self.memory.hold(device, ('received', op, tensor), size, now)
    self.release(signal, self.device[op], now)
    seconds = self.signals.service(signal, self.device[op], device, 'receive')
    if seconds is None:
      self.tell(signal, device, now)
    else:
      self.services[device].append((_RECEIVED, signal, device, seconds))

  def release(self, signal, device, now) -> None:
    self.uses[signal, device] -= 1
    if self.uses[signal, device]:
      return
    op, tensor = signal
    is_made_here = self.device[op] == device
    kind = 'output' if is_made_here else 'received'
    if not is_made_here or tensor != reference_signals.CONTROL:
      self.memory.drop(device, (kind, op, tensor), now)
    if is_made_here and self.signals.shared(signal):
      self.release(self.signals.shared(signal), device, now)

  def push(self, seconds, kind, index, device) -> None:
    heapq.heappush(self.events, (seconds, kind, index, device))

  def schedule(self) -> schedule_lib.Schedule:
    """All that happened."""
    peaks = self.memory.peaks()
    peak_bytes = np.array([peak[0] for peak in peaks], np.int64)
    seconds = max(self.end, default=0.0)
    status = measurement.Status.OK
    if not seconds < math.inf:
      status = measurement.Status.UNSUPPORTED_OP
    elif (peak_bytes > self.costs.memory_bytes).any():
      status = measurement.Status.OUT_OF_MEMORY
    times, places, levels = zip(*self.memory.timeline)
    return schedule_lib.Schedule(
      status=status,
      reason=simulation_batch.reason(
        status, peak_bytes, self.costs.memory_bytes, self.names
      ),
      unbounded_seconds=seconds,
      op_device=np.array(self.device, np.int32),
      op_start_seconds=np.array(self.start),
      op_end_seconds=np.array(self.end),
      memory_time_seconds=np.array(times),
      memory_device=np.array(places, np.int32),
      memory_bytes=np.array(levels, np.int64),
      peak_bytes=peak_bytes,
      peak_time_seconds=np.array([peak[1] for peak in peaks]),
      peak_holders=tuple(peak[2] for peak in peaks),
      **self.transfers(),
    )

  def transfers(self) -> dict[str, np.ndarray]:
    """The fields of transfers and services."""
    keys = sorted(self.wires, key=self.wires.get)
    index = {key: i for i, key in enumerate(keys)}
    ops, tensors = [key[0][0] for key in keys], [key[0][1] for key in keys]
    control = reference_signals.CONTROL
    services = sorted(self.serviced)
    return {
      'transfer_op': _int32(ops),
      'transfer_tensor': _int32([-1 if t == control else t for t in tensors]),
      'transfer_source': _int32([self.device[op] for op in ops]),
      'transfer_target': _int32([target for _, target in keys]),
      'transfer_start_seconds': np.array([self.wires[key] for key in keys]),
      'transfer_end_seconds': np.array([self.arrivals[key] for key in keys]),
      'service_device': _int32([row[5] for row in services]),
      'service_transfer': _int32([index[row[2], row[3]] for row in services]),
      'service_start_seconds': np.array([row[4] for row in services]),
      'service_end_seconds': np.array([row[0] for row in services]),
    }


def _int32(values) -> np.ndarray:
  return np.array(values, np.int32)
