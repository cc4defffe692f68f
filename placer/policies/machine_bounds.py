"""What is decided to be on one device, or in one channel, one after the other.

Each of the jobs has a head (no earlier start), work, and a tail (from its end
to the step's). The preemptive schedule that always runs what has the largest
tail is the shortest of all on one machine (Jackson's rule; Horn 1974), so no
step is shorter. A device with several slots is taken as one machine that is as
many times as fast; jobs of all ops anywhere are at prices.

Jobs of a device are the ops that are decided to be there and the services of
transfers whose both ends are decided; those of a channel are the transfers. A
gap after an op may lie behind the end of the step: its tail is shorter by it.
`place` int64 `[G]` is the device of each group, or -1; `scratch` has heads and
tails.
"""

import numpy as np

from placer.policies import bound_arrays

_NEVER = 1e300
inner = bound_arrays.inner


@inner
def all_slots(step, mask, prices, scratch):
  """The bound of all ops on all slots, in seconds.

  Args:
    step: a `bound_arrays.Step` of N ops on D devices.
    mask: bool `[G, D]`, where groups may be.
    prices: float64 `[D]`.
    scratch: a `bound_arrays.Scratch` with heads and tails.
  """
  count = len(step.group)
  for op in range(count):
    head, tail = _NEVER, _NEVER
    work, gap = priced(step, mask, op, prices)
    for device in range(len(prices)):
      if mask[step.group[op], device]:
        head = min(head, scratch.head[op, device])
        tail = min(tail, scratch.tail[op, device])
    scratch.release[op], scratch.work[op] = head, work
    scratch.rest[op] = tail - gap
  return _one_by_one(count, scratch)


@inner
def on_device(step, place, device, scratch):
  """The bound of what is decided to be on a device, in seconds.

  Args:
    step: a `bound_arrays.Step`.
    place: int64 `[G]`, see the module docstring.
    device: its index.
    scratch: a `bound_arrays.Scratch` with heads and tails.
  """
  count = 0
  for op in range(len(step.group)):
    if place[step.group[op]] == device and step.busy[op, device] > 0:
      scratch.release[count] = scratch.head[op, device]
      scratch.work[count] = step.busy[op, device] / step.slots[device]
      scratch.rest[count] = scratch.tail[op, device] - step.gap[op, device]
      count += 1
  for signal in range(len(step.source)):
    source = place[step.group[step.source[signal]]]
    if source < 0:
      continue
    for target in range(len(step.slots)):
      sent = source == device and step.send[signal, source, target] > 0
      got = target == device and step.receive[signal, source, target] > 0
      if source == target or not (sent or got):
        continue
      after = _after(step, place, signal, target, scratch)
      if after >= 0:
        count = _add_stage(
          step, signal, source, target, after, 0 if sent else 2, count, scratch
        )
  return _one_by_one(count, scratch)


@inner
def through_channel(step, place, channel, scratch):
  """The bound of what is decided to go through a channel, in seconds.

  Args:
    step: a `bound_arrays.Step`.
    place: int64 `[G]`, see the module docstring.
    channel: its index.
    scratch: a `bound_arrays.Scratch` with heads and tails.
  """
  count = 0
  for signal in range(len(step.source)):
    source = place[step.group[step.source[signal]]]
    if source < 0:
      continue
    for target in range(len(step.slots)):
      if source == target or step.channel[signal, source, target] != channel:
        continue
      if step.wire[signal, source, target] > 0:
        after = _after(step, place, signal, target, scratch)
        if after >= 0:
          count = _add_stage(
            step, signal, source, target, after, 1, count, scratch
          )
  return _one_by_one(count, scratch)


@inner
def _after(step, place, signal, target, scratch):
  """From a signal's arrival to the end, -1 if nothing there surely reads it."""
  after = -1.0
  for i in range(step.first_reader[signal], step.first_reader[signal + 1]):
    reader = step.readers[i]
    if place[step.group[reader]] == target:
      rest = step.hold[reader, target] + scratch.tail[reader, target]
      after = max(after, rest)
  return after


@inner
def _add_stage(step, signal, source, target, after, stage, count, scratch):
  """Adds the job of sending (0), of the wire (1) or of receiving (2)."""
  op, at = step.source[signal], (signal, source, target)
  start = scratch.head[op, source] + step.hold[op, source]
  if stage == 0:
    work = step.send[at] / step.slots[source]
    after += step.wire[at] + step.latency[at] + step.receive[at]
  elif stage == 1:
    start, work = start + step.send[at], step.wire[at]
    after += step.latency[at] + step.receive[at]
  else:
    start += step.send[at] + step.wire[at] + step.latency[at]
    work = step.receive[at] / step.slots[target]
  scratch.release[count], scratch.work[count] = start, work
  scratch.rest[count] = after
  return count + 1


@inner
def _one_by_one(count, scratch):
  """The least end of `count` jobs on one machine; `scratch.work` is used up."""
  release, work, rest = scratch.release, scratch.work, scratch.rest
  heap, size, i, now, found = scratch.heap, 0, 0, 0.0, 0.0
  order = np.argsort(release[:count])
  while i < count or size:
    if not size:
      now = max(now, release[order[i]])
    while i < count and release[order[i]] <= now:
      _push(heap, size, order[i], rest)
      size, i = size + 1, i + 1
    job, following = heap[0], release[order[i]] if i < count else _NEVER
    if now + work[job] > following:
      work[job] -= following - now
      now = following
      continue
    now += work[job]
    found = max(found, now + rest[job])
    size -= 1
    _sift(heap, size, rest)
  return found


@inner
def _push(heap, size, job, rest):
  """Adds a job to a heap of `size`, the largest `rest` first."""
  i = size
  while i > 0 and rest[heap[(i - 1) >> 1]] < rest[job]:
    heap[i] = heap[(i - 1) >> 1]
    i = (i - 1) >> 1
  heap[i] = job


@inner
def _sift(heap, size, rest):
  """Puts the last of `size + 1` jobs in place of the first."""
  job, i = heap[size], 0
  while 2 * i + 1 < size:
    child = 2 * i + 1
    if child + 1 < size and rest[heap[child + 1]] > rest[heap[child]]:
      child += 1
    if rest[job] >= rest[heap[child]]:
      break
    heap[i] = heap[child]
    i = child
  heap[i] = job


@inner
def decided(mask):
  """int64 `[G]`: the device of each group that is decided, else -1."""
  place = np.full(len(mask), -1)
  for group in range(len(mask)):
    if mask[group].sum() == 1:
      place[group] = np.argmax(mask[group])
  return place


@inner
def priced(step, mask, op, prices):
  """(work of an op at prices, its largest gap)."""
  work, gap = _NEVER, 0.0
  for device in range(len(prices)):
    if mask[step.group[op], device]:
      work = min(work, step.busy[op, device] * prices[device])
      gap = max(gap, step.gap[op, device])
  return work, gap
