"""The bound of a node of `assignment_bound.py`, compiled.

`mask` bool `[G, D]` says where groups may still be; a group is *decided* where
one device is left. Letters: `N` ops, `G` groups, `D` devices.

  heads   float64 `[N, D]`, an op on a device starts no earlier: its inputs
          come from where their groups may be, the way there included;
  tails   likewise, from its results to the end of the step;
  narrow  where an op's head, time and tail reach the limit its group is not;
  queues  `machine_bounds.py`;
  energy  (`deep`) an op waits for all of its ancestors that are decided to be
          on a device, or at prices anywhere: the least head of some of them,
          their work, and the shortest way to the op.

All of it holds for any schedule of the simulator; `window_bounds.py` has the
reasons for prices and gaps.
"""

import numpy as np

from placer.policies import bound_arrays
from placer.policies import machine_bounds

_NEVER = 1e300
compiled = bound_arrays.compiled
inner = bound_arrays.inner


@compiled
def bound(step, mask, limit, low_head, low_tail, scratch, deep):
  """No placement within a mask is faster.

  Args:
    step: a Step.
    mask: bool `[G, D]`; narrowed.
    limit: seconds; what does not stay below it is of no interest.
    low_head: float64 `[N]`, known heads; raised if `deep`.
    low_tail: float64 `[N]`, known tails; raised if `deep`.
    scratch: a Scratch.
    deep: whether to look at energy; `scratch.way` has to be `[N, N]`.

  Returns:
    Seconds; at least `limit` if nothing below it is left.
  """
  if deep:
    _ways(step, mask, scratch.way)
  while True:
    _heads(step, mask, low_head, scratch, deep)
    _tails(step, mask, low_tail, scratch, deep)
    found, is_narrower = _narrow(step, mask, limit, scratch)
    if found >= limit:
      return found
    if deep or not is_narrower:
      break
  return max(found, _queues(step, mask, limit, scratch))


@inner
def _queues(step, mask, limit, scratch):
  """The largest of `machine_bounds.py`, or the first to reach the limit."""
  place, found = machine_bounds.decided(mask), 0.0
  for price in range(len(step.prices)):
    prices = step.prices[price]
    found = max(found, machine_bounds.all_slots(step, mask, prices, scratch))
  for device in range(len(step.slots)):
    if found < limit:
      seconds = machine_bounds.on_device(step, place, device, scratch)
      found = max(found, seconds)
  for channel in range(step.channel.max() + 1 if step.channel.size else 0):
    if found < limit:
      seconds = machine_bounds.through_channel(step, place, channel, scratch)
      found = max(found, seconds)
  return found


@inner
def _heads(step, mask, low, scratch, deep):
  place = machine_bounds.decided(mask)
  head = scratch.head
  for op in range(len(step.group)):
    group, least = step.group[op], _NEVER
    for device in range(len(step.slots)):
      if not mask[group, device]:
        continue
      start = low[op]
      for i in range(step.first_input[op], step.first_input[op + 1]):
        signal = step.inputs[i]
        source = step.source[signal]
        out, hold = head[source], step.hold[source]
        if step.group[source] == group:
          start = max(start, out[device] + hold[device])
          continue
        ready, delay = _NEVER, step.delay[signal]
        for d in range(len(step.slots)):
          if mask[step.group[source], d]:
            ready = min(ready, out[d] + hold[d] + delay[d, device])
        start = max(start, ready)
      head[op, device] = start
      least = min(least, start)
    if deep:
      least = max(least, _energy(step, mask, place, op, op, low, scratch, True))
      for device in range(len(step.slots)):
        head[op, device] = max(head[op, device], least)
      low[op] = least
      _insert(scratch.order, op, op, low)


@inner
def _tails(step, mask, low, scratch, deep):
  place = machine_bounds.decided(mask)
  tail, count = scratch.tail, len(step.group)
  for op in range(count - 1, -1, -1):
    group, least = step.group[op], _NEVER
    for device in range(len(step.slots)):
      if not mask[group, device]:
        continue
      rest = low[op]
      for signal in range(step.first_signal[op], step.first_signal[op + 1]):
        for i in range(
          step.first_reader[signal], step.first_reader[signal + 1]
        ):
          reader = step.readers[i]
          there, hold = tail[reader], step.hold[reader]
          if step.group[reader] == group:
            rest = max(rest, hold[device] + there[device])
            continue
          after, delay = _NEVER, step.delay[signal, device]
          for d in range(len(step.slots)):
            if mask[step.group[reader], d]:
              after = min(after, delay[d] + hold[d] + there[d])
          rest = max(rest, after)
      tail[op, device] = rest
      least = min(least, rest)
    if deep:
      seen = count - 1 - op
      energy = _energy(step, mask, place, op, seen, low, scratch, False)
      least = max(least, energy)
      for device in range(len(step.slots)):
        tail[op, device] = max(tail[op, device], least)
      low[op] = least
      _insert(scratch.order, seen, op, low)


@inner
def _insert(order, count, op, low):
  """Puts an op into the first `count` of an order, ascending by `low`."""
  i = count
  while i > 0 and low[order[i - 1]] > low[op]:
    order[i] = order[i - 1]
    i -= 1
  order[i] = op


@inner
def _energy(step, mask, place, op, count, low, scratch, is_head):
  """The head, or tail, of an op by the work before, or behind, it."""
  devices, prices = len(step.slots), len(step.prices)
  total = np.zeros(devices + prices)
  way = np.full(devices + prices, _NEVER)
  end = np.full(devices + prices, _NEVER)
  found = 0.0
  for i in range(count - 1, -1, -1):
    other = scratch.order[i]
    between = scratch.way[op, other] if is_head else scratch.way[other, op]
    if between < 0:
      continue
    for queue in range(devices + prices):
      device = place[step.group[other]]
      if queue < devices:
        if device != queue:
          continue
        work = step.busy[other, queue] / step.slots[queue]
        gap = step.gap[other, queue]
      else:
        work, gap = machine_bounds.priced(
          step, mask, other, step.prices[queue - devices]
        )
      total[queue] += work
      # On the one side is the way to the op, on the other the end of the step.
      near, far = (low[other], between) if is_head else (between, low[other])
      way[queue] = min(way[queue], near)
      end[queue] = min(end[queue], far - gap)
      found = max(found, way[queue] + total[queue] + end[queue])
  return found


@inner
def _ways(step, mask, way):
  """float64 `[N, N]`: from column's results to row's start, -1 for no way."""
  for op in range(len(step.group)):
    way[op] = -1.0
    for i in range(step.first_input[op], step.first_input[op + 1]):
      signal = step.inputs[i]
      source = step.source[signal]
      moved, hold = 0.0, _NEVER
      if step.group[source] != step.group[op]:
        moved = _NEVER
      for d in range(len(step.slots)):
        if not mask[step.group[source], d]:
          continue
        hold = min(hold, step.hold[source, d])
        for device in range(len(step.slots)):
          if mask[step.group[op], device]:
            moved = min(moved, step.delay[signal, d, device])
      for other in range(source):
        if way[source, other] >= 0:
          longer = way[source, other] + hold + moved
          way[op, other] = max(way[op, other], longer)
      way[op, source] = max(way[op, source], moved)


@inner
def _narrow(step, mask, limit, scratch):
  """(bound, whether a device was taken away)."""
  worst = np.zeros(mask.shape)
  for op in range(len(step.group)):
    for device in range(mask.shape[1]):
      if mask[step.group[op], device]:
        seconds = scratch.head[op, device] + step.hold[op, device]
        seconds += scratch.tail[op, device]
        row = worst[step.group[op]]
        row[device] = max(row[device], seconds)
  found, is_narrower = 0.0, False
  for group in range(len(mask)):
    least = _NEVER
    for device in range(mask.shape[1]):
      if mask[group, device]:
        least = min(least, worst[group, device])
        if worst[group, device] >= limit:
          mask[group, device] = False
          is_narrower = True
    found = max(found, least)
  return found, is_narrower
