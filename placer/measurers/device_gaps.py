"""Device gaps: devices for nodes that a placement does not name.

In a measured graph nothing is left to TensorFlow's placer, whose choice would
depend on the graph's other devices.
"""

from collections.abc import Collection

from tensorflow.core.framework import graph_pb2

from placer.measurers import set_up_anchors


def fill(
  graph_def: graph_pb2.GraphDef,
  placed: dict[str, str],
  default: str,
  leave: Collection[str] = (),
) -> None:
  """Gives each node without a device that of a neighbour.

  Args:
    graph_def: any GraphDef; its own devices count for nothing.
    placed: {name: device}, completed in place: with the first consumer that
      has a device, else the first input that has one.
    default: the device of nodes that are connected with no placed one.
    leave: names of nodes to leave without a device.
  """
  gaps = {
    node.name
    for node in graph_def.node
    if node.name not in placed and node.name not in leave
  }
  if not gaps:
    return
  consumers: dict[str, list[str]] = {name: [] for name in gaps}
  inputs: dict[str, list[str]] = {}
  for node in graph_def.node:
    sources = [set_up_anchors.source(edge) for edge in node.input]
    if node.name in gaps:
      inputs[node.name] = sources
    for name in sources:
      if name in gaps:
        consumers[name].append(node.name)
  while _spread(gaps, consumers, placed) or _spread(gaps, inputs, placed):
    pass
  placed.update(dict.fromkeys(gaps, default))


def _spread(
  gaps: set[str], neighbours: dict[str, list[str]], placed: dict[str, str]
) -> bool:
  """One round; returns whether a gap was filled."""
  found = {}
  for name in gaps:
    near = next((n for n in neighbours[name] if n in placed), None)
    if near is not None:
      found[name] = placed[near]
  placed.update(found)
  gaps.difference_update(found)
  return bool(found)
