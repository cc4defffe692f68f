"""The ops that wait for a slot of their device, compiled.

First ready, first served: a linked list through the ops. With priorities: a
binary heap of ranks, a smaller rank first (`records.State.ready`).
"""

from placer.simulation import compiled


@compiled.inlined
def add(state, op: int, device: int) -> None:
  """Puts an op that is ready into the queue of its device.

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
def take(state, device: int) -> int:
  """Removes the next op of a queue that is not empty, and returns it.

  Args:
    state: a `records.State`.
    device: whose queue.
  """
  queue = state.devices[device]
  queue.num_ready -= 1
  if state.ready.shape[1]:
    return state.ranked[_pop(state.ready[device], queue.num_ready)]
  op = queue.first_ready
  queue.first_ready = state.ops[op].next
  return op


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
