"""Feed variables: inputs of a step that lie on the devices.

A feed `x` that is a Placeholder becomes a ReadVariableOp of that name; it
reads `x/placer_feed`, which `x/placer_assign` gives the value of the
placeholder `x/placer_value`, once. Of a feed `n:k` that is something else,
the consumers read `n/placer_read_k` instead.
"""

import dataclasses
from collections.abc import Iterable

import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import program as program_lib
from placer.measurers import set_up_anchors

_PLACEHOLDERS = ('Placeholder', 'PlaceholderV2', 'PlaceholderWithDefault')


@dataclasses.dataclass(frozen=True)
class FeedVariable:
  """The names by which the variable of a feed is given its value.

  Attributes:
    value: the placeholder that the client feeds, 'x/placer_value'.
    assign: the op that assigns it, 'x/placer_assign'.
    read: the op that a step reads it with, 'x'.
  """

  value: str
  assign: str
  read: str


def add(
  graph_def: graph_pb2.GraphDef,
  feed: program_lib.Feed,
  anchors: dict[str, set_up_anchors.Anchor],
) -> FeedVariable:
  """Makes the steps of a graph read a feed from a variable.

  Args:
    graph_def: edited in place.
    feed: which tensor.
    anchors: gets the anchors of the nodes that are added.

  Returns:
    The names of what was added.

  Raises:
    ValueError: the feed is not in the graph.
  """
  name, _, index = feed.tensor.partition(':')
  node = next((n for n in graph_def.node if n.name == name), None)
  if node is None:
    raise ValueError(f'Feed {feed.tensor!r} is not in the graph.')
  dtype = tf.as_dtype(feed.dtype).as_datatype_enum
  if node.op in _PLACEHOLDERS:
    read, shape = name, _variable_shape(node, feed)
    node.Clear()
  else:
    read, shape = f'{name}/placer_read_{index or 0}', _full_shape(feed)
    _redirect(graph_def, name, int(index or 0), read)
    node = graph_def.node.add()
    anchors[read] = set_up_anchors.Anchor(name, on_host=False)
  handle, value = f'{read}/placer_feed', f'{read}/placer_value'
  assign = f'{read}/placer_assign'
  fill(node, read, 'ReadVariableOp', [handle], dtype=dtype)
  fill(
    graph_def.node.add(), handle, 'VarHandleOp', [], dtype=dtype, shape=shape
  )
  graph_def.node[-1].attr['shared_name'].s = handle.encode()
  fill(
    graph_def.node.add(),
    value,
    'Placeholder',
    [],
    dtype=dtype,
    shape=_full_shape(feed),
  )
  fill(
    graph_def.node.add(),
    assign,
    'AssignVariableOp',
    [handle, value],
    dtype=dtype,
  )
  for added in (handle, assign):
    anchors[added] = set_up_anchors.Anchor(read, on_host=False)
  anchors[value] = set_up_anchors.Anchor(read, on_host=True)
  return FeedVariable(value, assign, read)


def fill(
  node: node_def_pb2.NodeDef,
  name: str,
  op: str,
  inputs: Iterable[str],
  *,
  dtype: int,
  shape: tf.TensorShape | None = None,
) -> None:
  """Fills an empty node.

  Args:
    node: edited in place.
    name: its name.
    op: its type.
    inputs: its inputs.
    dtype: the value of its attribute `dtype`.
    shape: that of its attribute `shape`, None for no such attribute.
  """
  node.name, node.op = name, op
  node.input.extend(inputs)
  node.attr['dtype'].type = dtype
  if shape is not None:
    node.attr['shape'].shape.CopyFrom(shape.as_proto())


def _full_shape(feed: program_lib.Feed) -> tf.TensorShape:
  return tf.TensorShape(feed.shape)


def _variable_shape(
  node: node_def_pb2.NodeDef, feed: program_lib.Feed
) -> tf.TensorShape:
  """The shape that a step may rely on: the placeholder's own, no more.

  With the feed's full shape, TensorFlow would fold shape computations that it
  has to run for the user.
  """
  if 'shape' in node.attr:
    shape = tf.TensorShape(node.attr['shape'].shape)
    if shape.is_compatible_with(feed.shape):
      return shape
  return tf.TensorShape(None)


def _redirect(
  graph_def: graph_pb2.GraphDef, name: str, index: int, read: str
) -> None:
  """Makes all consumers of the tensor `name:index` read `read`."""
  old = {f'{name}:{index}'} | ({name} if index == 0 else set())
  for node in graph_def.node:
    for i, edge in enumerate(node.input):
      if edge in old:
        node.input[i] = read
