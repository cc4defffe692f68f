"""The ops that wait for a slot of their device, compiled.

First ready, first served, but for what `advance` moves: a linked list through
the ops. Behind it, in a second list, those that have had a slice. With
priorities: a binary heap of ranks, a smaller rank first
(`records.State.ready`).
"""

from placer.simulation import compiled
from placer.simulation import records


@compiled.inlined
def add(state, op: int, device: int) -> None:
  """Puts an op that has become ready into the queue of its device.

  Args:
    state: a `records.State`.
    op: index.
    device: the op's.
  """
  queue = state.devices[device]
  if state.ready.shape[1]:
    _push(state.ready[device], queue.num_ready, state.rank[op])
  else:
    state.ops[op].next = -1
    if queue.num_ready:
      state.ops[queue.last_ready].next = op
    else:
      queue.first_ready = op
    queue.last_ready = op
  queue.num_ready += 1


@compiled.inlined
def resume(state, op: int, device: int) -> None:
  """Puts an op whose slice is over behind all others of its device.

  Args:
    state: a `records.State`, without priorities.
    op: index.
    device: the op's.
  """
  queue = state.devices[device]
  state.ops[op].next = -1
  if queue.num_resumed:
    state.ops[queue.last_resumed].next = op
  else:
    queue.first_resumed = op
  queue.last_resumed = op
  queue.num_resumed += 1


@compiled.inlined
def take(state, device: int) -> int:
  """Removes the next op of a queue that is not empty, and returns it.

  Args:
    state: a `records.State`.
    device: whose queue.
  """
  queue = state.devices[device]
  if not queue.num_ready:
    queue.num_resumed -= 1
    op = queue.first_resumed
    queue.first_resumed = state.ops[op].next
    return op
  queue.num_ready -= 1
  if state.ready.shape[1]:
    return state.ranked[_pop(state.ready[device], queue.num_ready)]
  op = queue.first_ready
  queue.first_ready = state.ops[op].next
  return op


@compiled.inlined
def advance(step, state, device: int, last: int, count: int) -> None:
  """Moves what an op that ends made ready to where a thread takes it.

  Args:
    step: a `records.Step`.
    state: a `records.State`, without priorities.
    device: whose queue.
    last: what was last in the first list before.
    count: how many were in that before.
  """
  queue, ops = state.devices[device], state.ops
  op = ops[last].next if count else queue.first_ready
  if count:
    ops[last].next = -1
  next_first = next_last = newest = -1
  while op >= 0:
    following = ops[op].next
    ops[op].next = -1
    if step.op_costs[op, device].seconds < records.CHEAP_SECONDS:
      if next_last >= 0:
        ops[next_last].next = op
      else:
        next_first = op
      next_last = op
    else:
      if newest >= 0:
        last, count = _append(state, device, newest, last, count)
      newest = op
    op = following
  if newest >= 0 and next_first >= 0:
    last, count = _append(state, device, newest, last, count)
  elif newest >= 0:
    next_first = next_last = newest
  ops[next_last].next = queue.first_ready if count else -1
  queue.first_ready = next_first
  queue.last_ready = last if count else next_last


@compiled.inlined
def _append(state, device, op, last, count):
  """Puts an op behind the last one; the new last one, and how many."""
  if count:
    state.ops[last].next = op
  else:
    state.devices[device].first_ready = op
  return op, count + 1


@compiled.inlined
def _push(heap, count, rank):
  i = count
  while i > 0:
    parent = (i - 1) >> 1
    if heap[parent] < rank:
      break
    heap[i] = heap[parent]
    i = parent
  heap[i] = rank


@compiled.inlined
def _pop(heap, count):
  """Removes the least rank of a heap that has `count` others."""
  least, rank = heap[0], heap[count]
  i = 0
  while True:
    child = 2 * i + 1
    if child >= count:
      break
    if child + 1 < count and heap[child + 1] < heap[child]:
      child += 1
    if rank < heap[child]:
      break
    heap[i] = heap[child]
    i = child
  heap[i] = rank
  return least
