"""The simulator in plain Python: slow, and the oracle of the tests.

    reference = Reference(problem, cost_model)
    schedule = reference.schedule(candidate)

It keeps to what `simulator.py` says, and shares no code with the compiled
implementation: dicts and lists instead of arrays, a dict of live tensors
instead of counters in records.

A signal, what goes from an op to its readers, is here a pair (op, output),
where output is the index of a tensor, or `CONTROL` for the op's control edges.
"""

import collections
import heapq
import math

import numpy as np

from placer.core import cost_model as cost_model_lib
from placer.core import measurement
from placer.core import placement_problem
from placer.core import schedule as schedule_lib
from placer.simulation import simulation_batch

CONTROL = math.inf  # behind all tensors
_OP_ENDS, _SLOT_FREES, _ARRIVES, _SENT, _RECEIVED = range(5)


class Reference:
  """Simulates one placement after the other; see the module docstring."""

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    cost_model: cost_model_lib.CostModel,
  ) -> None:
    """Reads the graph.

    Args:
      problem: G groups of N ops on D devices.
      cost_model: of the same graph and devices.
    """
    self.problem = problem
    self.costs = cost_model
    graph = problem.graph
    readers = collections.defaultdict(set)
    self.inputs = [set() for _ in graph.names]
    for source, target, tensor, is_back in zip(
      graph.edge_source.tolist(),
      graph.edge_target.tolist(),
      graph.edge_tensor.tolist(),
      graph.edge_is_back.tolist(),
      strict=True,
    ):
      if not is_back:
        signal = (source, tensor if tensor >= 0 else CONTROL)
        readers[signal].add(target)
        self.inputs[target].add(signal)
    self.readers = {key: sorted(readers[key]) for key in sorted(readers)}
    self.signals = [[] for _ in graph.names]
    for signal in self.readers:
      self.signals[signal[0]].append(signal)
    self.tensors = [[] for _ in graph.names]
    for tensor, op in enumerate(graph.tensor_source.tolist()):
      self.tensors[op].append(tensor)

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
    self.reference = reference
    self.device = devices
    self.priority = priority
    count = len(self.names)
    self.waits = [len(signals) for signals in reference.inputs]
    self.events = []
    self.ready = [[] for _ in range(count)]
    self.became_ready = 0
    self.services = [collections.deque() for _ in range(count)]
    self.busy = [0] * count
    self.channel_free = collections.defaultdict(float)
    self.uses = {}
    self.start = [math.inf] * len(self.graph)
    self.end = [math.inf] * len(self.graph)
    self.wires, self.arrivals, self.serviced = {}, {}, []
    self.held = [{} for _ in range(count)]
    self.timeline = []
    self.peak = [(-1, 0.0, ())] * count

  def run(self) -> None:
    """Handles all events."""
    for op, size in enumerate(self.graph.persistent_bytes.tolist()):
      self.held[self.device[op]]['persistent', op, -1] = size
    for device in range(len(self.held)):
      self.note(device, 0.0)
    for op, count in enumerate(self.waits):
      if not count:
        self.make_ready(op)
    for device in range(len(self.held)):
      self.fill_slots(device, 0.0)
    while self.events:
      now, kind, index, device = heapq.heappop(self.events)
      if kind == _OP_ENDS:
        self.end_op(index, device, now)
      elif kind == _ARRIVES:
        self.arrive(index, device, now)
      elif kind == _SENT:
        self.start_wire(index, device, now)
        device = self.device[index[0]]
        self.busy[device] -= 1
      else:
        if kind == _RECEIVED:
          self.tell(index, device)
        self.busy[device] -= 1
      self.fill_slots(device, now)

  def make_ready(self, op) -> None:
    key = self.became_ready if self.priority is None else self.priority[op]
    heapq.heappush(self.ready[self.device[op]], (key, op))
    self.became_ready += 1

  def fill_slots(self, device, now) -> None:
    while self.busy[device] < self.costs.concurrency[device]:
      if self.services[device]:
        kind, signal, target, seconds = self.services[device].popleft()
        self.serviced.append((now + seconds, kind, signal, target, now, device))
        self.push(now + seconds, kind, signal, target)
      elif self.ready[device]:
        op = heapq.heappop(self.ready[device])[1]
        self.start[op] = now
        self.held[device]['temporary', op, -1] = self.costs.temporary_bytes[op]
        for tensor in self.reference.tensors[op]:
          self.held[device]['output', op, tensor] = self.resident(tensor, device)
        self.note(device, now)
        runs = int(self.costs.op_runs[op])
        seconds = float(self.costs.op_seconds[op, device]) * runs
        gaps = float(self.costs.gap_seconds[op, device]) * (runs - 1)
        self.push(now + (seconds + gaps), _OP_ENDS, op, device)
      else:
        break
      self.busy[device] += 1

  def end_op(self, op, device, now) -> None:
    self.end[op] = now
    del self.held[device]['temporary', op, -1]
    for tensor in self.reference.tensors[op]:
      if (op, tensor) not in self.reference.readers:
        del self.held[device]['output', op, tensor]
    self.note(device, now)
    for signal in self.reference.signals[op]:
      self.hand_out(signal, device, now)
    for signal in sorted(self.reference.inputs[op]):
      self.release(signal, device, now)
    gap = float(self.costs.gap_seconds[op, device])
    if gap > 0:
      self.push(now + gap, _SLOT_FREES, 0, device)
    else:
      self.busy[device] -= 1

  def hand_out(self, signal, device, now) -> None:
    readers = self.reference.readers[signal]
    targets = list(dict.fromkeys(self.device[op] for op in readers))
    for target in targets:
      self.uses[signal, target] = sum(
        self.device[op] == target for op in readers
      )
    others = [target for target in targets if target != device]
    self.uses[signal, device] = self.uses.get((signal, device), 0) + len(others)
    shared = self.shared(signal)
    if shared:
      self.uses[shared, device] += 1
    self.tell(signal, device)
    for target in others:
      seconds = self.service(signal, target, 'send')
      if seconds is None:
        self.start_wire(signal, target, now)
      else:
        self.services[device].append((_SENT, signal, target, seconds))

  def tell(self, signal, device) -> None:
    for op in self.reference.readers[signal]:
      if self.device[op] == device:
        self.waits[op] -= 1
        if not self.waits[op]:
          self.make_ready(op)

  def start_wire(self, signal, target, now) -> None:
    links, source = self.links(signal), self.device[signal[0]]
    sends, size = self.sends(signal), self.size(signal)
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
    if tensor != CONTROL and not self.costs.host_output[tensor, device]:
      size = self.size(signal)
    self.held[device]['received', op, tensor] = size
    self.note(device, now)
    self.release(signal, self.device[op], now)
    seconds = self.service(signal, device, 'receive')
    if seconds is None:
      self.tell(signal, device)
    else:
      self.services[device].append((_RECEIVED, signal, device, seconds))

  def release(self, signal, device, now) -> None:
    self.uses[signal, device] -= 1
    if self.uses[signal, device]:
      return
    op, tensor = signal
    is_made_here = self.device[op] == device
    kind = 'output' if is_made_here else 'received'
    self.held[device].pop((kind, op, tensor), None)
    self.note(device, now)
    if is_made_here and self.shared(signal):
      self.release(self.shared(signal), device, now)

  def service(self, signal, target, stage) -> float | None:
    """Seconds of a service; None where it costs nothing."""
    links, source = self.links(signal), self.device[signal[0]]
    message = getattr(links, f'{stage}_seconds_per_message')[source, target]
    byte = getattr(links, f'{stage}_seconds_per_byte')[source, target]
    if not message and not byte:
      return None
    sends, size = self.sends(signal), self.size(signal)
    return sends * float(message) + size * sends * float(byte)

  def links(self, signal):
    op, tensor = signal
    if tensor != CONTROL and self.costs.host_output[tensor, self.device[op]]:
      return self.costs.host_links
    return self.costs.links

  def size(self, signal) -> int:
    tensor = signal[1]
    return 0 if tensor == CONTROL else int(self.graph.tensor_bytes[tensor])

  def sends(self, signal) -> int:
    op, tensor = signal
    if tensor != CONTROL:
      return int(self.costs.tensor_sends[tensor])
    runs = self.costs.op_runs
    return int(min(runs[op], max(runs[self.reference.readers[signal]])))

  def shared(self, signal):
    """The signal whose buffer one shares, or None."""
    if signal[1] == CONTROL or self.costs.shares_tensor[signal[1]] < 0:
      return None
    tensor = int(self.costs.shares_tensor[signal[1]])
    return int(self.graph.tensor_source[tensor]), tensor

  def resident(self, tensor, device) -> int:
    if self.costs.host_output[tensor, device]:
      return 0
    return self.costs.resident_bytes[tensor]

  def push(self, seconds, kind, index, device) -> None:
    heapq.heappush(self.events, (seconds, kind, index, device))

  def note(self, device, now) -> None:
    """Writes down what is in memory."""
    level = int(sum(self.held[device].values()))
    self.timeline.append((now, device, level))
    if level > self.peak[device][0]:
      self.peak[device] = (level, now, tuple(self.held[device].items()))
