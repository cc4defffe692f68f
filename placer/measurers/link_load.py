"""Link load: how long a tensor keeps the devices busy that send and receive it.

gRPC costs CPU time on both ends (DESIGN §3.13), which a busy CPU lacks for its
ops. Both devices run a fixed amount of work, with and without K tensors that
go from one to the other meanwhile. What a tensor adds to the step is what it
takes from each of the two ends; they are not told apart.
"""

import statistics
import time
from collections.abc import Callable, Sequence

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2

from placer.measurers import link_timing

SIZES = (4, 1 << 20)
_TENSORS = 16
_CHAINS = 4
_CHAIN_OPS = 40
_REPEATS = 9

Load = tuple[float, float]


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
    For each pair (seconds a message, seconds a byte), of each end.
  """
  announce('setup')
  graph = tf.Graph()
  with graph.as_default():
    steps, inits = {}, []
    for pair in pairs:
      ends = devices[pair[0]], devices[pair[1]]
      work = [_work(end, inits) for end in ends]
      steps[pair, 0] = tf.group(*work)
      for size in SIZES:
        steps[pair, size] = tf.group(*work, *_transfers(ends, size, inits))
    init = tf.group(*inits)
  with tf.compat.v1.Session(
    target, graph=graph, config=link_timing.unoptimised(config)
  ) as session:
    session.run(init)
    found = []
    for pair in pairs:
      announce('step')
      small, large = _added(session, [steps[pair, n] for n in (0, *SIZES)])
      message = max(small, 0.0)
      found.append((message, max(large - message, 0.0) / SIZES[1]))
    return found


def _added(session, steps: Sequence[tf.Operation]) -> tuple[float, ...]:
  """Seconds a tensor adds to the first step, for each of the others."""
  times: list[list[float]] = [[] for _ in steps]
  for step in steps:
    session.run(step)
  for _ in range(_REPEATS):
    for own, step in zip(times, steps, strict=True):
      began = time.perf_counter()
      session.run(step)
      own.append(time.perf_counter() - began)
  base, *others = map(statistics.median, times)
  return tuple((other - base) / _TENSORS for other in others)


def _work(device: str, inits: list[tf.Operation]) -> tf.Operation:
  """Some 10 ms of a core, in chains that compete as ops of a graph do."""
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
