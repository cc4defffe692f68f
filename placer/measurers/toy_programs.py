"""Toy programs: small real graphs for tests of measurers.

Each builder returns a `Toy`: a Program and the groups of its ops. `problem`
makes a PlacementProblem of it. Names of ops decide their group: 'b/...' is in
group 1, all others are in group 0; ops that touch a variable go with it.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import device as device_lib
from placer.core import op_graph
from placer.core import placement_problem
from placer.core import program as program_lib

_SECOND_GROUP = 'b/'


@dataclasses.dataclass(frozen=True)
class Toy:
  """A small Program.

  Attributes:
    program: what a step computes.
    graph_def: its graph, parsed.
  """

  program: program_lib.Program
  graph_def: graph_pb2.GraphDef


def build(
  make: Callable[[], object],
  *,
  fetches: Sequence[str],
  feeds: Sequence[program_lib.Feed] = (),
  setup_ops: Sequence[str] = (),
) -> Toy:
  """Makes a program of what `make` adds to an empty graph.

  Args:
    make: adds ops.
    fetches: tensors or ops.
    feeds: the inputs.
    setup_ops: run before the first step.

  Returns:
    The toy; its graphs are pruned to fetches and set-up ops.
  """
  graph = tf.Graph()
  with graph.as_default():
    make()
  whole = graph.as_graph_def()
  main = _sub_graph(whole, fetches)
  setup = _sub_graph(whole, setup_ops) if setup_ops else None
  program = program_lib.Program(
    main.SerializeToString(),
    setup.SerializeToString() if setup else b'',
    tuple(setup_ops),
    tuple(feeds),
    tuple(fetches),
  )
  return Toy(program, main)


def problem(
  toy: Toy, topology: device_lib.DeviceTopology
) -> placement_problem.PlacementProblem:
  """A problem with two groups, both free; all ops of bodies are left out.

  Args:
    toy: what is placed.
    topology: D devices.

  Returns:
    G = 2, or 1 if no op is named 'b/...'. Edges and sizes are left out.
  """
  names = tuple(node.name for node in toy.graph_def.node)
  group = np.array([_is_second(node) for node in toy.graph_def.node], np.int32)
  count, groups = len(names), int(group.max()) + 1
  nothing = np.zeros(0, np.int32)
  graph = op_graph.OpGraph(
    names=names,
    types=tuple(node.op for node in toy.graph_def.node),
    tensor_source=nothing,
    tensor_bytes=nothing.astype(np.int64),
    tensor_shape_known=nothing.astype(bool),
    edge_source=nothing,
    edge_target=nothing,
    edge_tensor=nothing,
    edge_is_back=nothing.astype(bool),
    flops=np.zeros(count),
    persistent_bytes=np.zeros(count, np.int64),
    original_devices=('',) * count,
  )
  return placement_problem.PlacementProblem(
    graph,
    topology,
    group,
    np.ones((groups, len(topology)), bool),
    ('a', 'b')[:groups],
  )


def _is_second(node: node_def_pb2.NodeDef) -> bool:
  """Whether a node, or the variable that it touches, is named 'b/...'."""
  inputs = [edge for edge in node.input if edge.endswith('/weight')]
  return (inputs or [node.name])[0].startswith(_SECOND_GROUP)


def training(size: int = 64) -> Toy:
  """Two dense layers with random initial weights, dropout, one SGD step."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [None, size], name='x')
    y = _dense('a', x, size)
    y = tf.nn.dropout(y, rate=0.5, name='b/dropout')
    loss = tf.reduce_mean(tf.square(_dense('b', y, size)), name='b/loss')
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    optimizer.minimize(loss, name='train')
    tf.compat.v1.global_variables_initializer()

  return build(
    make,
    fetches=['b/loss:0', 'train'],
    feeds=[program_lib.Feed('x:0', 'float32', (8, size), 'images')],
    setup_ops=['init'],
  )


def matmuls(size: int = 256, count: int = 4) -> Toy:
  """A chain of matmuls in two halves; no variables."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [size, size], name='x')
    for half in 'ab':
      for i in range(count):
        x = tf.nn.tanh(tf.matmul(x, x, name=f'{half}/mul{i}'), f'{half}/t{i}')
    tf.identity(x, name='b/out')

  return build(
    make,
    fetches=['b/out:0'],
    feeds=[program_lib.Feed('x:0', 'float32', (size, size))],
  )


def removed_identity() -> Toy:
  """square -> identity 'b/same' -> exp: Grappler removes the identity."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [4], name='x')
    square = tf.square(x, name='square')
    tf.exp(tf.identity(square, name='b/same'), name='exp')

  return build(
    make, fetches=['exp:0'], feeds=[program_lib.Feed('x:0', 'float32', (4,))]
  )


def big_tensor(megabytes: int) -> Toy:
  """'b/' makes a tensor of that size in each step and adds it up."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [], name='x')
    y = tf.add(x, 1.0, name='y')
    with tf.name_scope('b'):
      big = tf.fill([megabytes, 1 << 18], y, name='big')
      tf.reduce_sum(tf.sort(big, axis=0), name='out')

  return build(
    make, fetches=['b/out:0'], feeds=[program_lib.Feed('x:0', 'float32', ())]
  )


def endless() -> Toy:
  """A step that waits for an empty queue, where 'b/' is on another device.

  On one device with group 0 it is the same; the queue is in group 0.
  """

  def make() -> None:
    queue = tf.queue.FIFOQueue(1, [tf.float32], [[]], name='queue')
    tf.identity(queue.dequeue(), name='b/out')

  return build(make, fetches=['b/out'])


def no_kernel() -> Toy:
  """'b/nccl' has no kernel on a CPU."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [4], name='x')
    tf.raw_ops.NcclAllReduce(
      input=x, reduction='sum', num_devices=1, shared_name='', name='b/nccl'
    )

  return build(
    make, fetches=['b/nccl'], feeds=[program_lib.Feed('x:0', 'float32', (4,))]
  )


def channels_first() -> Toy:
  """'b/space' is an NCHW op: a CPU kernel is registered, but it fails."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [1, 4, 8, 8], name='x')
    tf.raw_ops.DepthToSpace(
      input=x, block_size=2, data_format='NCHW', name='b/space'
    )

  return build(
    make,
    fetches=['b/space'],
    feeds=[program_lib.Feed('x:0', 'float32', (1, 4, 8, 8))],
  )


def colocated() -> Toy:
  """'b/with' must be with 'square', by its `_class`."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [4], name='x')
    square = tf.square(x, name='square')
    with tf.compat.v1.colocate_with(square.op):
      tf.exp(square, name='b/with')

  return build(
    make, fetches=['b/with'], feeds=[program_lib.Feed('x:0', 'float32', (4,))]
  )


def loop() -> Toy:
  """A functional while loop whose body has matmuls; group 1 reads it."""

  def make() -> None:
    x = tf.compat.v1.placeholder(tf.float32, [8, 8], name='x')
    traced = tf.function(
      lambda value: tf.while_loop(
        lambda i, _: i < 3,
        lambda i, v: (i + 1, tf.tanh(tf.matmul(v, v))),
        [0, value],
      )[1]
    ).get_concrete_function(tf.TensorSpec([8, 8]))
    (y,) = tf.graph_util.import_graph_def(
      traced.graph.as_graph_def(),
      {traced.inputs[0].name: x},
      [traced.outputs[0].name],
      name='loop',
    )
    tf.exp(y, name='b/out')

  return build(
    make,
    fetches=['b/out:0'],
    feeds=[program_lib.Feed('x:0', 'float32', (8, 8))],
  )


def _dense(scope: str, x: tf.Tensor, size: int) -> tf.Tensor:
  with tf.compat.v1.variable_scope(scope, use_resource=True):
    weight = tf.compat.v1.get_variable('weight', [size, size])
  # Not in the scope: opening it again would name ops 'b_1/...'.
  product = tf.matmul(x, weight, name=f'{scope}/mul')
  return tf.nn.relu(product, name=f'{scope}/relu')


def _sub_graph(
  graph_def: graph_pb2.GraphDef, roots: Sequence[str]
) -> graph_pb2.GraphDef:
  nodes = {node.name: node for node in graph_def.node}
  keep: set[str] = set()
  stack = [root.partition(':')[0] for root in roots]
  while stack:
    name = stack.pop()
    if name not in keep:
      keep.add(name)
      stack.extend(e.lstrip('^').partition(':')[0] for e in nodes[name].input)
  result = graph_pb2.GraphDef(
    versions=graph_def.versions, library=graph_def.library
  )
  result.node.extend(node for node in graph_def.node if node.name in keep)
  return result
