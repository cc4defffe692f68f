"""Link load: what a tensor takes from devices that are busy.

gRPC costs CPU time on both ends (DESIGN §3.13), which a busy CPU lacks for its
ops. Both devices run a fixed amount of work; with K tensors that go from one to
the other meanwhile it takes longer. What a tensor adds is what it takes from
each of the two ends; they are not told apart, and both directions of a pair,
which have the same ends, get the mean of both.

How long a message waits for the CPU of a busy device is not measured: that is
for the simulator, in which ops and messages take turns.
"""

import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2

from placer.measurers import link_timing

SIZES = (4, 1 << 20)
_TENSORS = 16
_CHAINS = 4
_CHAIN_OPS = 100
_REPEATS = 15


@dataclasses.dataclass(frozen=True)
class Load:
  """What a link does to busy devices.

  Attributes:
    seconds: how long a message keeps each end busy.
    seconds_per_byte: how much more for each of its bytes.
  """

  seconds: float
  seconds_per_byte: float


def measure(
  devices: Sequence[str],
  pairs: Sequence[tuple[int, int]],
  *,
  target: str,
  config: config_pb2.ConfigProto,
  announce: Callable[[str], None],
) -> list[Load]:
  """Measures each pair; see the module docstring.

  Args:
    devices: full names of the D devices.
    pairs: (source, target) indices.
    target: of the session.
    config: of the session.
    announce: is told when a phase begins.

  Returns:
    The Load of each pair.
  """
  announce('setup')
  graph = tf.Graph()
  with graph.as_default():
    steps, inits = {}, []
    for pair in pairs:
      ends = devices[pair[0]], devices[pair[1]]
      work = [_work(end, inits) for end in ends]
      steps[pair] = [
        tf.group(*work),
        *(tf.group(*work, *_transfers(ends, size, inits)) for size in SIZES),
      ]
    init = tf.group(*inits)
  with tf.compat.v1.Session(
    target, graph=graph, config=link_timing.unoptimised(config)
  ) as session:
    session.run(init)
    found = {}
    for pair in pairs:
      announce('step')
      found[pair] = load_of(*_seconds(session, steps[pair]))
  return [mean(found[pair], found.get(pair[::-1])) for pair in pairs]


def load_of(work: float, small: float, large: float) -> Load:
  """The Load that explains the times of three steps.

  Args:
    work: seconds of the work alone.
    small: of the work beside K tensors of the first of `SIZES`.
    large: of the work beside K tensors of the second.

  Returns:
    The Load; nothing in it is below 0.
  """
  message = max(small - work, 0.0) / _TENSORS
  byte = max((large - work) / _TENSORS - message, 0.0) / SIZES[1]
  return Load(message, byte)


def mean(one: Load, other: Load | None) -> Load:
  """The mean of both directions, or the only one that was measured."""
  if other is None:
    return one
  both = zip(dataclasses.astuple(one), dataclasses.astuple(other), strict=True)
  return Load(*(statistics.mean(values) for values in both))


def _seconds(session, steps: Sequence[tf.Operation]) -> list[float]:
  """The median of each step, taken in turn."""
  times: list[list[float]] = [[] for _ in steps]
  for step in steps:
    session.run(step)
  for _ in range(_REPEATS):
    for own, step in zip(times, steps, strict=True):
      began = time.perf_counter()
      session.run(step)
      own.append(time.perf_counter() - began)
  return [statistics.median(own) for own in times]


def _work(device: str, inits: list[tf.Operation]) -> tf.Operation:
  """Some 30 ms of a core, in chains that compete as ops of a graph do."""
  ends = []
  with tf.device(device):
    start = _variable((128, 1024), inits)
    for _ in range(_CHAINS):
      value = start
      for _ in range(_CHAIN_OPS):
        value = tf.tanh(value)
      ends.append(value)
    return tf.group(*ends)


def _transfers(
  ends: tuple[str, str], size: int, inits: list[tf.Operation]
) -> list[tf.Tensor]:
  with tf.device(ends[0]):
    value = _variable((size // 4,), inits)
    copies = [tf.identity(value) for _ in range(_TENSORS)]
  with tf.device(ends[1]):
    return [tf.slice(copy, [0], [1]) for copy in copies]


def _variable(shape: tuple[int, ...], inits: list[tf.Operation]) -> tf.Tensor:
  variable = tf.compat.v1.get_variable(
    f'load{len(inits)}',
    shape=shape,
    initializer=tf.compat.v1.zeros_initializer(),
    use_resource=True,
  )
  inits.append(variable.initializer)
  return variable.value()
