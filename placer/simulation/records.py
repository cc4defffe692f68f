"""The arrays of the compiled simulator: rows of records, sorted into tuples.

Letters: `N` ops, `D` devices, `T` *signals*, `R` readers, `I` inputs, `C`
channels. A signal is a tensor that some op reads, or all control edges of an
op as one tensor of no bytes; back edges are left out. They are numbered in the
order of their ops, those of an op by its outputs, its control signal last. A
*copy* is a signal on a device: where it was made, or where it was received.

`Step`, what does not change from placement to placement:
  ops: OP `[N + 1]`, what an op begins at, the next one ends.
  op_starts: OP_START `[N]`.
  op_costs: OP_COST `[N, D]`.
  signals: SIGNAL `[T + 1]`, likewise.
  in_host: bool `[T, D]`, whether a copy is in host memory.
  readers: int32 `[R]`, the ops that read each signal, each once, ascending.
  inputs: int32 `[I]`, the signals each op reads that matter to memory.
  sources: int32, the ops without inputs.
  links: LINK `[2, D, D]`: of device memory, of host memory.
  devices: DEVICE `[D]`.
  allowed: bool `[G, D]`.

`State`, of one placement at a time, one for each thread:
  ops: OP_STATE `[N]`.
  uses: int32 `[T, D]`, readers, sends and sharing tensors of a copy to come.
  next_service: int64 `[T, D]`, the place behind a copy in a queue, or -1.
  devices: DEVICE_STATE `[D]`.
  op_start_seconds: float64 `[N]`, or `[0]` if nobody asks.
  channel_free_seconds: float64 `[C]`, when a channel has carried all it has.
  targets: int32 `[D]`, scratch.
  events: EVENT, a binary heap.
  num_events: int64 `[1]`.
  left_seconds: float64 `[N]`, what is left of an op that has had slices.
  rank: int32 `[N]`, the place of each op in the order of priority.
  ranked: int32 `[N]`, its inverse.
  ready: int32 `[D, N]`, a binary heap of ranks for each device; `[D, 0]`
    where the first ready is served first.
  log: LOG; its first row has the number of rows in `index`. Empty: no log.

`Results`, of a batch:
  status: int8 `[B]`, see `SimulationBatch`.
  seconds: float64 `[B]`.
  peak_bytes: int64 `[B, D]`.
  op_start_seconds: float64 `[B, N]`, or `[0, 0]` if nobody asks.
"""

from typing import NamedTuple

import numpy as np

# Small rows, and apart what is used apart: large graphs wait for memory.
OP = np.dtype([('first_signal', 'i4'), ('first_input', 'i4')], align=True)
OP_START = np.dtype(
  [
    ('group', 'i4'),
    ('num_inputs', 'i4'),  # what it waits for: data and control
    ('persistent_bytes', 'i8'),
  ],
  align=True,
)
OP_COST = np.dtype(
  [
    ('seconds', 'f8'),  # all runs, and the gaps between them
    ('gap_seconds', 'f8'),  # after the last run
    ('start_bytes', 'i8'),  # taken at the start: temporaries and outputs
    ('end_bytes', 'i8'),  # given back at the end: all that nobody reads
  ],
  align=True,
)
SIGNAL = np.dtype(
  [
    ('source', 'i4'),
    ('first_reader', 'i4'),
    ('shares', 'i4'),  # the signal whose buffer it shares, or -1
    ('may_be_in_host', 'i4'),  # whether `in_host` has to be asked
    ('sends', 'f8'),
    ('sent_bytes', 'f8'),  # of all sends
    ('resident_bytes', 'i8'),  # where it is made
    ('received_bytes', 'i8'),  # where it is received
  ],
  align=True,
)
LINK = np.dtype(
  [
    ('latency_seconds', 'f8'),
    ('message_seconds', 'f8'),
    ('bytes_per_second', 'f8'),
    ('send_seconds_per_message', 'f8'),
    ('send_seconds_per_byte', 'f8'),
    ('receive_seconds_per_message', 'f8'),
    ('receive_seconds_per_byte', 'f8'),
    ('channel', 'i8'),
  ],
  align=True,
)
DEVICE = np.dtype(
  [
    ('concurrency', 'i8'),
    ('threaded', 'i8'),
    ('slice_seconds', 'f8'),
    ('memory_bytes', 'i8'),
  ],
  align=True,
)

OP_STATE = np.dtype(
  [
    ('device', 'i4'),
    ('waits', 'i4'),  # inputs that are still missing
    ('next', 'i4'),  # in the queue of its device, or -1
  ],
  align=True,
)
DEVICE_STATE = np.dtype(
  [
    ('live_bytes', 'i8'),
    ('peak_bytes', 'i8'),
    ('busy', 'i8'),  # slots taken
    ('num_ready', 'i8'),
    ('first_ready', 'i8'),
    ('last_ready', 'i8'),
    ('num_resumed', 'i8'),
    ('first_resumed', 'i8'),
    ('last_resumed', 'i8'),
    ('first_service', 'i8'),  # a place (see `event_queue.place`), or -1
    ('last_service', 'i8'),
  ],
  align=True,
)
EVENT = np.dtype([('seconds', 'f8'), ('key', 'i8')], align=True)
LOG = np.dtype(
  [
    ('seconds', 'f8'),
    ('live_bytes', 'i8'),
    ('index', 'i8'),  # op or signal
    ('device', 'i4'),
    ('kind', 'i4'),
  ],
  align=True,
)

# An op that takes less runs in the thread that made it ready: TensorFlow's
# 10,000 cycles (`kOpIsExpensiveThresholdCycles`).
CHEAP_SECONDS = 4e-6

# Kinds of LOG rows; the first five change memory.
OP_READY, OP_STARTS, OP_ENDS, FREED, ARRIVED, WIRE_STARTS, SEND_STARTS = range(
  7
)
SENT, RECEIVE_STARTS, RECEIVED = range(7, 10)
# Most log rows that an op, and that a copy, can write.
ROWS_PER_OP = 3
ROWS_PER_COPY = 7


class Step(NamedTuple):
  """What does not change; see the module docstring."""

  ops: np.ndarray
  op_starts: np.ndarray
  op_costs: np.ndarray
  signals: np.ndarray
  in_host: np.ndarray
  readers: np.ndarray
  inputs: np.ndarray
  sources: np.ndarray
  links: np.ndarray
  devices: np.ndarray
  allowed: np.ndarray


class State(NamedTuple):
  """One placement under way; see the module docstring."""

  ops: np.ndarray
  uses: np.ndarray
  next_service: np.ndarray
  devices: np.ndarray
  op_start_seconds: np.ndarray
  channel_free_seconds: np.ndarray
  targets: np.ndarray
  events: np.ndarray
  num_events: np.ndarray
  left_seconds: np.ndarray
  rank: np.ndarray
  ranked: np.ndarray
  ready: np.ndarray
  log: np.ndarray


class Results(NamedTuple):
  """What comes out; see the module docstring."""

  status: np.ndarray
  seconds: np.ndarray
  peak_bytes: np.ndarray
  op_start_seconds: np.ndarray
