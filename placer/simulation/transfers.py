"""What carries signals from device to device, compiled.

A signal goes through up to three stages: a *service* that keeps the source
busy, the wire, a service that keeps the target busy. A service without cost is
left out. The services of a device wait in a linked list through the copies.
"""

from placer.simulation import compiled
from placer.simulation import event_log
from placer.simulation import event_queue
from placer.simulation import records


@compiled.inlined
def send(step, state, signal, source, target, now):
  """Sends a signal: by a service of the source if that takes time."""
  link = link_of(step, signal, source, target)
  if link.send_seconds_per_message > 0 or link.send_seconds_per_byte > 0:
    add_service(state, signal, target, source)
  else:
    start_wire(step, state, signal, source, target, now)


@compiled.inlined
def start_wire(step, state, signal, source, target, now):
  """Gives a signal to its channel, which carries one after the other."""
  link, record = link_of(step, signal, source, target), step.signals[signal]
  start = max(now, state.channel_free_seconds[link.channel])
  free = start + (
    record.sends * link.message_seconds
    + record.sent_bytes / link.bytes_per_second
  )
  state.channel_free_seconds[link.channel] = free
  event_log.note(state, records.WIRE_STARTS, signal, target, start)
  event_queue.push(
    state,
    free + record.sends * link.latency_seconds,
    event_queue.ARRIVES,
    event_queue.place(signal, target),
  )


@compiled.inlined
def add_service(state, signal, target, device):
  """Queues the sending to `target`, or the receiving there, on `device`."""
  queue, at = state.devices[device], event_queue.place(signal, target)
  state.next_service[signal, target] = -1
  if queue.first_service < 0:
    queue.first_service = at
  else:
    last = queue.last_service
    state.next_service[
      event_queue.index_of(last), event_queue.device_of(last)
    ] = at
  queue.last_service = at


@compiled.inlined
def start_service(step, state, device, now):
  """Starts the first service of a device that has one."""
  queue = state.devices[device]
  at = queue.first_service
  signal, target = event_queue.index_of(at), event_queue.device_of(at)
  queue.first_service = state.next_service[signal, target]
  record = step.signals[signal]
  link = link_of(step, signal, state.ops[record.source].device, target)
  if target == device:
    kind = event_queue.RECEIVED
    per_message = link.receive_seconds_per_message
    per_byte = link.receive_seconds_per_byte
    event_log.note(state, records.RECEIVE_STARTS, signal, target, now)
  else:
    kind = event_queue.SENT
    per_message = link.send_seconds_per_message
    per_byte = link.send_seconds_per_byte
    event_log.note(state, records.SEND_STARTS, signal, target, now)
  seconds = record.sends * per_message + record.sent_bytes * per_byte
  event_queue.push(state, now + seconds, kind, at)


@compiled.inlined
def link_of(step, signal, source, target):
  """The costs of the link that a signal takes."""
  in_host = is_in_host(step, signal, source)
  return step.links[1 if in_host else 0, source, target]


@compiled.inlined
def is_in_host(step, signal, device):
  """Whether a copy is in host memory."""
  return step.signals[signal].may_be_in_host and step.in_host[signal, device]
