"""Small real TensorFlow graphs for tests, each with a fault users meet."""

from collections.abc import Callable

import tensorflow as tf
from tensorflow.core.framework import graph_pb2


def build(make: Callable[[], object]) -> graph_pb2.GraphDef:
  """The GraphDef of what `make` adds to an empty graph."""
  graph = tf.Graph()
  with graph.as_default():
    make()
  return graph.as_graph_def()


def chain(*ops: str, size: int = 4) -> graph_pb2.GraphDef:
  """x -> op -> op ...: unary ops named like their types ('square', 'exp')."""

  def make() -> None:
    value = tf.compat.v1.placeholder(tf.float32, [size, size], name='x')
    for name in ops:
      value = getattr(tf, name)(value, name=name)

  return build(make)


def fork_join() -> graph_pb2.GraphDef:
  """Two matmul branches over one input, added."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [8, 8], name='x')
    weight = tf.constant([[0.5] * 8] * 8, name='weight')
    left = tf.matmul(x, weight, name='left/MatMul')
    left = tf.nn.relu(left, name='left/Relu')
    right = tf.matmul(weight, x, name='right/MatMul')
    right = tf.nn.relu(right, name='right/Relu')
    tf.add(left, right, name='sum')

  return build(make)


def training() -> graph_pb2.GraphDef:
  """One dense layer with resource variables, its loss, Adam, an init op."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [4, 3], name='x')
    with tf.compat.v1.variable_scope('dense', use_resource=True):
      weight = tf.compat.v1.get_variable(
        'weight', [3, 2], initializer=tf.compat.v1.ones_initializer()
      )
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weight)), name='loss')
    tf.compat.v1.train.AdamOptimizer(0.1).minimize(loss, name='train')
    tf.compat.v1.global_variables_initializer()

  return build(make)


def v1_loop() -> graph_pb2.GraphDef:
  """A v1 while loop, so that the GraphDef is cyclic."""

  def make() -> None:
    tf.compat.v1.disable_control_flow_v2()
    x = tf.compat.v1.placeholder(tf.float32, [4, 4], name='x')
    _, total = tf.compat.v1.while_loop(
      lambda i, _: i < 3,
      lambda i, t: (i + 1, tf.matmul(t, x)),
      (tf.constant(0), x),
    )
    tf.identity(total, name='out')
    tf.compat.v1.enable_control_flow_v2()

  return build(make)


def functional_loop() -> graph_pb2.GraphDef:
  """A functional While and If inside a called function."""

  @tf.function(input_signature=[tf.TensorSpec([4, 4], tf.float32)])
  def body(x):
    total = x
    for _ in tf.range(3):
      total = tf.matmul(total, x, name='step')
    if tf.reduce_sum(total) > 0:
      total = tf.exp(total, name='grow')
    else:
      total = tf.square(total, name='shrink')
    return total

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [4, 4], name='x')
    tf.identity(body(x), name='out')

  return build(make)


def shared_function() -> graph_pb2.GraphDef:
  """One function that two nodes call."""

  @tf.function(input_signature=[tf.TensorSpec([2, 2], tf.float32)])
  def twice(x):
    return tf.add(x, x, name='double')

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [2, 2], name='x')
    tf.identity(twice(tf.identity(twice(x), name='middle')), name='out')

  return build(make)


def pinned_body() -> graph_pb2.GraphDef:
  """A called function whose op is pinned to a GPU that isn't there."""

  @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
  def pinned(x):
    with tf.device('/device:GPU:3'):
      return tf.exp(x, name='exp')

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [2], name='x')
    tf.identity(pinned(x), name='out')

  return build(make)


def call_nodes(graph_def: graph_pb2.GraphDef) -> list[str]:
  """The names of the nodes that call functions."""
  return [n.name for n in graph_def.node if n.op.endswith('PartitionedCall')]


def run(
  graph_def: graph_pb2.GraphDef,
  fetches: list[str],
  feeds: dict[str, object] | None = None,
  *,
  devices: int = 1,
) -> list[object]:
  """Runs a graph in this process with `devices` logical CPUs.

  Args:
    graph_def: the graph; what it says of devices is obeyed.
    fetches: tensors.
    feeds: tensor -> value.
    devices: number of CPU devices.

  Returns:
    The values.
  """
  graph = tf.Graph()
  with graph.as_default():
    tf.graph_util.import_graph_def(graph_def, name='')
  config = tf.compat.v1.ConfigProto(
    allow_soft_placement=False, device_count={'CPU': devices}
  )
  with tf.compat.v1.Session(graph=graph, config=config) as session:
    return session.run(fetches, feeds)
