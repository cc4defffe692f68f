"""The events to come, compiled: a binary heap, the earliest first.

Events at the same time come in the order of their key: their kind, then the
op or signal, then the device. All this is in one integer:

    key = kind << 56 | place(index, device),  place = index << 16 | device
"""

from placer.simulation import compiled

OP_ENDS, SLOT_FREES, ARRIVES, SENT, RECEIVED, SLICE_ENDS = range(6)
MAX_DEVICES = 1 << 16

_KIND_SHIFT = 56
_INDEX_SHIFT = 16


@compiled.inlined
def place(index: int, device: int) -> int:
  """An op or signal and a device in one integer."""
  return (index << _INDEX_SHIFT) | device


@compiled.inlined
def kind_of(key: int) -> int:
  """The kind of a key."""
  return key >> _KIND_SHIFT


@compiled.inlined
def index_of(key: int) -> int:
  """The op or signal of a key or a place."""
  return (key & ((1 << _KIND_SHIFT) - 1)) >> _INDEX_SHIFT


@compiled.inlined
def device_of(key: int) -> int:
  """The device of a key or a place."""
  return key & (MAX_DEVICES - 1)


@compiled.inlined
def push(state, seconds: float, kind: int, at: int) -> None:
  """Adds an event.

  Args:
    state: a `records.State`.
    seconds: when it happens.
    kind: see above.
    at: a place.
  """
  heap, key = state.events, (kind << _KIND_SHIFT) | at
  i = state.num_events[0]
  state.num_events[0] = i + 1
  while i > 0:
    parent = (i - 1) >> 1
    if not _is_before(seconds, key, heap[parent].seconds, heap[parent].key):
      break
    heap[i].seconds, heap[i].key = heap[parent].seconds, heap[parent].key
    i = parent
  heap[i].seconds, heap[i].key = seconds, key


@compiled.inlined
def pop(state) -> None:
  """Removes the first event, `state.events[0]`."""
  count = state.num_events[0] - 1
  state.num_events[0] = count
  heap = state.events
  seconds, key = heap[count].seconds, heap[count].key
  i = 0
  while True:
    child = 2 * i + 1
    if child >= count:
      break
    if child + 1 < count and _is_before(
      heap[child + 1].seconds,
      heap[child + 1].key,
      heap[child].seconds,
      heap[child].key,
    ):
      child += 1
    if not _is_before(heap[child].seconds, heap[child].key, seconds, key):
      break
    heap[i].seconds, heap[i].key = heap[child].seconds, heap[child].key
    i = child
  heap[i].seconds, heap[i].key = seconds, key


@compiled.inlined
def _is_before(seconds, key, other_seconds, other_key):
  return seconds < other_seconds or (
    seconds == other_seconds and key < other_key
  )
