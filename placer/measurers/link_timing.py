"""Link timing: how long tensors of several sizes take between two devices.

A variable on the source is read by an Identity on the target. From the time
of such a step that of a step is taken away which runs an op on both devices
and moves nothing: what is left is what moving the tensor adds to a step.
"""

import statistics
import time
from collections.abc import Callable, Sequence

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2

# 4 B to 64 MiB: latency decides below 64 KiB, bandwidth above.
SIZES = (4, 1 << 12, 1 << 16, 1 << 20, 1 << 23, 1 << 26)
_REPEATS = 9
_SLOW_SECONDS = 0.01
_SLOW_REPEATS = 4
_LEAST_SECONDS = 1e-6


def measure(
  devices: Sequence[str],
  pairs: Sequence[tuple[int, int]],
  *,
  target: str,
  config: config_pb2.ConfigProto,
  announce: Callable[[str], None],
) -> list[tuple[tuple[int, float], ...]]:
  """Times each pair.

  Args:
    devices: full names of the D devices.
    pairs: (source, target) indices.
    target: of the session.
    config: of the session.
    announce: is told when a phase begins.

  Returns:
    For each pair ((bytes, seconds), ...), seconds at least a microsecond.
  """
  announce('setup')
  graph = tf.Graph()
  with graph.as_default():
    values, init = _variables(devices, sorted({pair[0] for pair in pairs}))
    idle = {
      device: _on(device, lambda: tf.identity(_one()).op) for device in devices
    }
    moves = {
      (pair, size): _on(
        devices[pair[1]],
        lambda pair=pair, size=size: tf.identity(values[pair[0], size]).op,
      )
      for pair in pairs
      for size in SIZES
    }
  with tf.compat.v1.Session(target, graph=graph, config=config) as session:
    session.run(init)
    results = []
    for pair in pairs:
      announce('step')
      ends = [idle[devices[end]] for end in pair]
      base = _median(session, ends)
      results.append(
        tuple(
          (size, _moving(session, ends, moves[pair, size], base))
          for size in SIZES
        )
      )
    return results


def _moving(session, ends, move, base: float) -> float:
  return max(_median(session, [*ends, move]) - base, _LEAST_SECONDS)


def _median(
  session: tf.compat.v1.Session, ops: Sequence[tf.Operation]
) -> float:
  session.run(ops)  # the first run partitions the graph
  times: list[float] = []
  while len(times) < _REPEATS:
    began = time.perf_counter()
    session.run(ops)
    times.append(time.perf_counter() - began)
    if len(times) >= _SLOW_REPEATS and times[-1] > _SLOW_SECONDS:
      break
  return statistics.median(times)


def _variables(devices: Sequence[str], sources: Sequence[int]):
  """{(device, bytes): a read of a variable}, and the op that makes them."""
  values, inits = {}, []
  for source in sources:
    with tf.device(devices[source]):
      for size in SIZES:
        variable = tf.compat.v1.get_variable(
          f'source{source}_{size}',
          shape=[size // 4],
          initializer=tf.compat.v1.zeros_initializer(),
          use_resource=True,
        )
        inits.append(variable.initializer)
        values[source, size] = variable.value()
  return values, inits


def _on(device: str, make: Callable[[], tf.Operation]) -> tf.Operation:
  with tf.device(device):
    return make()


def _one() -> tf.Tensor:
  # A random op, since a constant would be folded away.
  return tf.compat.v1.random_uniform([1])
