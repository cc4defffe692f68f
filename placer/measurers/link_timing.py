"""Link timing: how long a tensor takes from one device to another.

A step runs K rounds, one after another: a tensor of some size goes from the
source to the target, and one number of it comes back. What a round adds to
the step is

    R(bytes) = seconds(bytes) there + seconds(4) back

and since a link's latency is about the same both ways, seconds(4) is taken to
be R(4) / 2. Rounds within a step are what links cost *within* a step: the
start of a step, where TensorFlow tells each worker to run its part, is not
counted, and the target has asked for the tensor before it is there.
"""

import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.core.protobuf import rewriter_config_pb2

# 4 B to 64 MiB: latency decides below 64 KiB, bandwidth above.
SIZES = (4, 1 << 12, 1 << 16, 1 << 20, 1 << 23, 1 << 26)
_LEAST_SECONDS = 1e-6
_REPEATS = 9
_SLOW_SECONDS = 0.02
_SLOW_REPEATS = 4


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
    rounds = {
      (pair, size): _Rounds.make(
        devices[pair[0]], devices[pair[1]], values[pair[0], size], size
      )
      for pair in pairs
      for size in SIZES
    }
  with tf.compat.v1.Session(
    target, graph=graph, config=unoptimised(config)
  ) as session:
    session.run(init)
    results = []
    for pair in pairs:
      announce('step')
      seconds = [rounds[pair, size].seconds(session) for size in SIZES]
      back = seconds[0] / 2
      results.append(
        tuple(
          (size, max(each - back, _LEAST_SECONDS))
          for size, each in zip(SIZES, seconds, strict=True)
        )
      )
    return results


@dataclasses.dataclass(frozen=True)
class _Rounds:
  """An op that runs one round, one that runs more, and how many more."""

  one: tf.Operation
  many: tf.Operation
  more: int

  @classmethod
  def make(
    cls, source: str, target: str, value: tf.Tensor, size: int
  ) -> '_Rounds':
    more = 8 if size <= 1 << 16 else 2
    ends, back = [], value
    for _ in range(1 + more):
      with tf.device(source), tf.control_dependencies([back]):
        there = tf.identity(value)
      with tf.device(target):
        first = tf.slice(there, [0], [1])
      with tf.device(source):
        back = tf.identity(first)
      ends.append(back.op)
    return cls(ends[0], ends[-1], more)

  def seconds(self, session: tf.compat.v1.Session) -> float:
    """R of the module docstring; one-round steps and the others in turn."""
    times: dict[tf.Operation, list[float]] = {self.one: [], self.many: []}
    for op in times:
      session.run(op)  # the first run partitions the graph
    while len(times[self.many]) < _REPEATS:
      for op, own in times.items():
        began = time.perf_counter()
        session.run(op)
        own.append(time.perf_counter() - began)
      slow = times[self.many][-1] > _SLOW_SECONDS
      if slow and len(times[self.many]) >= _SLOW_REPEATS:
        break
    one, many = map(statistics.median, times.values())
    return max((many - one) / self.more, 2 * _LEAST_SECONDS)


def unoptimised(config: config_pb2.ConfigProto) -> config_pb2.ConfigProto:
  """A copy of `config` under which equal ops stay apart.

  Args:
    config: of a session.
  """
  result = config_pb2.ConfigProto()
  result.CopyFrom(config)
  options = result.graph_options
  options.rewrite_options.disable_meta_optimizer = True
  options.rewrite_options.min_graph_nodes = -1
  options.rewrite_options.constant_folding = (
    rewriter_config_pb2.RewriterConfig.OFF
  )
  options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
  return result


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
