"""The simulator's inner loop, compiled. `simulator.py` says what it computes.

Every function takes a `records.Step` and a `records.State`; nothing is
allocated. The arithmetic is that of `reference.py`, in the same order, so that
both agree to the bit.
"""

import numpy as np

from placer.simulation import compiled
from placer.simulation import event_log
from placer.simulation import event_queue
from placer.simulation import ready_queue
from placer.simulation import records
from placer.simulation import transfers

OK, OUT_OF_MEMORY, INVALID_PLACEMENT, UNSUPPORTED_OP = range(4)


@compiled.function
def run_batch(step, state, candidates, first, last, results):
  """Simulates the candidates `first` to `last` of a batch.

  Args:
    step: a `records.Step`.
    state: a `records.State`, overwritten.
    candidates: int32 `[B, G]`.
    first: index of the first candidate.
    last: one more than that of the last.
    results: `records.Results`; rows `first` to `last` are written.
  """
  for b in range(first, last):
    results.seconds[b] = np.nan
    if not _place(step, state, candidates[b]):
      results.status[b] = INVALID_PLACEMENT
      for device in range(step.devices.shape[0]):
        results.peak_bytes[b, device] = 0
      continue
    seconds = _run(step, state)
    results.seconds[b] = seconds
    status = OK
    for device in range(step.devices.shape[0]):
      peak = state.devices[device].peak_bytes
      results.peak_bytes[b, device] = peak
      if peak > step.devices[device].memory_bytes:
        status = OUT_OF_MEMORY
    results.status[b] = status if seconds < np.inf else UNSUPPORTED_OP
    if results.op_start_seconds.shape[0]:
      for op in range(state.ops.shape[0]):
        results.op_start_seconds[b, op] = state.op_start_seconds[op]


@compiled.inlined
def _place(step, state, candidate):
  """Sets everything to before the step; False if that may not be."""
  for group in range(candidate.shape[0]):
    device = candidate[group]
    if device < 0 or device >= step.devices.shape[0]:
      return False
    if not step.allowed[group, device]:
      return False
  for device in range(step.devices.shape[0]):
    queue = state.devices[device]
    queue.live_bytes = queue.busy = queue.num_ready = queue.num_resumed = 0
    queue.first_service = -1
  for channel in range(state.channel_free_seconds.shape[0]):
    state.channel_free_seconds[channel] = 0.0
  for op in range(state.ops.shape[0]):
    start = step.op_starts[op]
    device = candidate[start.group]
    state.ops[op].device = device
    state.ops[op].waits = start.num_inputs
    state.left_seconds[op] = 0.0
    state.devices[device].live_bytes += start.persistent_bytes
  for device in range(step.devices.shape[0]):
    state.devices[device].peak_bytes = state.devices[device].live_bytes
  state.num_events[0] = 0
  return True


@compiled.inlined
def _run(step, state):
  """The seconds until the last op ends."""
  for k in range(step.sources.shape[0]):
    op = step.sources[k]
    _make_ready(step, state, op, state.ops[op].device, 0.0)
  now = end = 0.0
  started = 0
  while True:
    if started < step.devices.shape[0]:
      device = started
      started += 1
    elif state.num_events[0] > 0:
      now, key = state.events[0].seconds, state.events[0].key
      event_queue.pop(state)
      if event_queue.kind_of(key) == event_queue.OP_ENDS:
        end = now
      device = _handle(step, state, key, now)
    else:
      break
    # Once in this loop, since all is inlined and has to be compiled.
    _fill_slots(step, state, device, now)
  return end


@compiled.inlined
def _handle(step, state, key, now):
  """Does what an event says; the device that may have something to do."""
  kind = event_queue.kind_of(key)
  index = event_queue.index_of(key)
  device = event_queue.device_of(key)
  is_there = kind == event_queue.RECEIVED
  if kind == event_queue.OP_ENDS:
    _end_op(step, state, index, device, now)
  elif kind == event_queue.SLICE_ENDS:
    state.devices[device].busy -= 1
    ready_queue.resume(state, index, device)
  elif kind == event_queue.ARRIVES:
    is_there = not _arrive(step, state, index, device, now)
  else:
    if kind == event_queue.SENT:
      event_log.note(state, records.SENT, index, device, now)
      source = state.ops[step.signals[index].source].device
      transfers.start_wire(step, state, index, source, device, now)
      device = source
    elif kind == event_queue.RECEIVED:
      event_log.note(state, records.RECEIVED, index, device, now)
    state.devices[device].busy -= 1
  if is_there:
    _tell(step, state, index, device, now)
  return device


@compiled.inlined
def _fill_slots(step, state, device, now):
  """Starts what waits on a device while it has a free slot."""
  queue = state.devices[device]
  while queue.busy < step.devices[device].concurrency:
    if queue.first_service >= 0:
      transfers.start_service(step, state, device, now)
    elif queue.num_ready + queue.num_resumed > 0:
      _run_op(step, state, ready_queue.take(state, device), device, now)
    else:
      break
    queue.busy += 1


@compiled.inlined
def _run_op(step, state, op, device, now):
  """Runs an op to its end, or for a slice."""
  cost, limit = step.op_costs[op, device], step.devices[device].slice_seconds
  seconds, kind, is_new = cost.seconds, event_queue.OP_ENDS, True
  if limit < seconds < np.inf and not state.ready.shape[1]:
    left = state.left_seconds[op]
    if left > 0:
      seconds, is_new = left, False
    state.left_seconds[op] = max(seconds - limit, 0.0)
    if limit < seconds:
      seconds, kind = limit, event_queue.SLICE_ENDS
  if is_new:
    if state.op_start_seconds.shape[0]:
      state.op_start_seconds[op] = now
    if not step.devices[device].threaded:
      queue = state.devices[device]
      queue.live_bytes += cost.start_bytes
      queue.peak_bytes = max(queue.peak_bytes, queue.live_bytes)
    event_log.note(state, records.OP_STARTS, op, device, now)
  event_queue.push(state, now + seconds, kind, event_queue.place(op, device))


@compiled.inlined
def _end_op(step, state, op, device, now):
  """Hands out the results of an op and gives back what it read."""
  queue, cost = state.devices[device], step.op_costs[op, device]
  queue.live_bytes -= cost.end_bytes
  event_log.note(state, records.OP_ENDS, op, device, now)
  last, count = queue.last_ready, queue.num_ready
  for signal in range(step.ops[op].first_signal, step.ops[op + 1].first_signal):
    num_targets = _hand_out(step, state, signal, device, now)
    for k in range(num_targets):
      transfers.send(step, state, signal, device, state.targets[k], now)
  if (
    step.devices[device].threaded
    and queue.num_ready > count
    and not state.ready.shape[1]
  ):
    ready_queue.advance(step, state, device, last, count)
  for k in range(step.ops[op].first_input, step.ops[op + 1].first_input):
    _release(step, state, step.inputs[k], device, now)
  if cost.gap_seconds > 0:
    event_queue.push(
      state,
      now + cost.gap_seconds,
      event_queue.SLOT_FREES,
      event_queue.place(0, device),
    )
  else:
    queue.busy -= 1


@compiled.inlined
def _hand_out(step, state, signal, device, now):
  """Tells the readers on the device; the number of other targets.

  Counts the uses of all copies, and leaves the targets in `state.targets`.
  """
  first = step.signals[signal].first_reader
  end = step.signals[signal + 1].first_reader
  uses = state.uses[signal]
  uses[device] = 0
  for k in range(first, end):
    uses[state.ops[step.readers[k]].device] = 0
  num_targets = 0
  for k in range(first, end):
    op = step.readers[k]
    target = state.ops[op].device
    if target == device:
      _count_down(step, state, op, device, now)
    elif not uses[target]:
      state.targets[num_targets] = target
      num_targets += 1
    uses[target] += 1
  uses[device] += num_targets
  shares = step.signals[signal].shares
  if shares >= 0:
    state.uses[shares, device] += 1
  return num_targets


@compiled.inlined
def _tell(step, state, signal, device, now):
  """Tells the readers on a device that received a signal."""
  first = step.signals[signal].first_reader
  for k in range(first, step.signals[signal + 1].first_reader):
    op = step.readers[k]
    if state.ops[op].device == device:
      _count_down(step, state, op, device, now)


@compiled.inlined
def _count_down(step, state, op, device, now):
  """One input of an op is there."""
  state.ops[op].waits -= 1
  if not state.ops[op].waits:
    _make_ready(step, state, op, device, now)


@compiled.inlined
def _make_ready(step, state, op, device, now):
  """An op may start."""
  if step.devices[device].threaded:
    queue = state.devices[device]
    queue.live_bytes += step.op_costs[op, device].start_bytes
    queue.peak_bytes = max(queue.peak_bytes, queue.live_bytes)
    event_log.note(state, records.OP_READY, op, device, now)
  ready_queue.add(state, op, device)


@compiled.inlined
def _release(step, state, signal, device, now):
  """One use of a copy is over."""
  while signal >= 0:
    state.uses[signal, device] -= 1
    if state.uses[signal, device] > 0:
      break
    record, shares = step.signals[signal], -1
    size = record.received_bytes
    if state.ops[record.source].device == device:
      size, shares = record.resident_bytes, record.shares
    if not transfers.is_in_host(step, signal, device):
      state.devices[device].live_bytes -= size
    event_log.note(state, records.FREED, signal, device, now)
    signal = shares


@compiled.inlined
def _arrive(step, state, signal, device, now):
  """Takes a signal in; whether a service of the target has to follow."""
  source = state.ops[step.signals[signal].source].device
  queue = state.devices[device]
  if not transfers.is_in_host(step, signal, device):
    queue.live_bytes += step.signals[signal].received_bytes
    queue.peak_bytes = max(queue.peak_bytes, queue.live_bytes)
  event_log.note(state, records.ARRIVED, signal, device, now)
  _release(step, state, signal, source, now)
  link = transfers.link_of(step, signal, source, device)
  if link.receive_seconds_per_message > 0 or link.receive_seconds_per_byte > 0:
    transfers.add_service(state, signal, device, device)
    return True
  return False
