"""Device gaps: devices for nodes that a placement does not name.

In a measured graph nothing is left to TensorFlow's placer, whose choice would
depend on the graph's other devices.
"""

from tensorflow.core.framework import graph_pb2

from placer.measurers import set_up_anchors


def fill(
  graph_def: graph_pb2.GraphDef, placed: dict[str, str], default: str
) -> None:
  """Gives each node without a device that of a neighbour.

  Args:
    graph_def: any GraphDef; its own devices count for nothing.
    placed: {name: device}, completed in place: with the first consumer that
      has a device, else the first input that has one.
    default: the device of nodes that are connected with no placed one.
  """
  gaps = {node.name for node in graph_def.node if node.name not in placed}
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
  for neighbours in (consumers, inputs):
    changed = True
    while changed:
      changed = False
      for name in sorted(gaps):
        found = next((n for n in neighbours[name] if n in placed), None)
        if found is not None:
          placed[name] = placed[found]
          gaps.discard(name)
          changed = True
  for name in gaps:
    placed[name] = default
