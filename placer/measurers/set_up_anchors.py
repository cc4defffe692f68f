"""Anchors: which op of a program a set-up node is placed with.

A node that touches a variable or table runs where that is; anything else
would be moved there silently (DESIGN §3.1). What only computes an initial
value goes to the CPU of the same task: reading a checkpoint has no kernel
elsewhere, and the values come out equal under all placements.
"""

import dataclasses
from collections.abc import Collection

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry


@dataclasses.dataclass(frozen=True)
class Anchor:
  """Where an added node goes.

  Attributes:
    name: the node whose device it takes.
    on_host: it takes the CPU of that device's task instead.
  """

  name: str
  on_host: bool


def source(edge: str) -> str:
  """The node that an input string names: 'a' for 'a', 'a:1', '^a'."""
  return edge.lstrip('^').partition(':')[0]


def find(
  setup: graph_pb2.GraphDef, main_names: Collection[str]
) -> dict[str, Anchor]:
  """The anchors of the nodes that only the set-up graph has.

  Args:
    setup: the set-up graph.
    main_names: names of the nodes of the main graph.

  Returns:
    {name: Anchor}; a node that is connected with no handle has none.
  """
  nodes = {node.name: node for node in setup.node}
  own = [node for node in setup.node if node.name not in main_names]
  anchors: dict[str, Anchor] = {}
  for node in own:
    handle = _handle(node, nodes)
    if handle is not None:
      anchors[node.name] = Anchor(handle, on_host=False)
  _spread(own, anchors)
  return anchors


def _handle(
  node: node_def_pb2.NodeDef, nodes: dict[str, node_def_pb2.NodeDef]
) -> str | None:
  """The handle that `node` touches, through other nodes, or None."""
  handle, seen = None, {node.name}
  while True:
    found = next(
      (
        name
        for name in (source(e) for e in node.input if e[0] != '^')
        if name in nodes and name not in seen and _makes_handle(nodes[name])
      ),
      None,
    )
    if found is None:
      return handle
    seen.add(found)
    handle, node = found, nodes[found]


def _makes_handle(node: node_def_pb2.NodeDef) -> bool:
  op_def = op_def_registry.get(node.op)
  if op_def is None:
    return False
  return any(
    output.is_ref
    or output.type == types_pb2.DT_RESOURCE
    or (
      output.type_attr in node.attr
      and node.attr[output.type_attr].type == types_pb2.DT_RESOURCE
    )
    for output in op_def.output_arg
  )


def _spread(
  own: list[node_def_pb2.NodeDef], anchors: dict[str, Anchor]
) -> None:
  """Gives nodes without an anchor that of a consumer, then of an input."""
  names = {node.name for node in own}
  changed = True
  while changed:
    changed = False
    for node in reversed(own):
      for edge in node.input:
        name = source(edge)
        if node.name in anchors and name in names and name not in anchors:
          anchors[name] = Anchor(anchors[node.name].name, on_host=True)
          changed = True
    for node in own:
      if node.name in anchors or changed:
        continue
      found = next(
        (source(e) for e in node.input if source(e) in anchors), None
      )
      if found is not None:
        anchors[node.name] = Anchor(anchors[found].name, on_host=True)
        changed = True
