"""Removes every device annotation, function bodies included.

`import_graph_def` and `clear_devices` leave the devices in function bodies
(DESIGN §3.4); a body pinned to a GPU that is not there then fails at the
first run.
"""

from tensorflow.core.framework import graph_pb2

from placer.core import op_path
from placer.rewriters import function_refs


def strip(graph_def: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
  """Returns a copy of `graph_def` without any device.

  Args:
    graph_def: any GraphDef; it is not edited.

  Returns:
    The copy. `_class` colocation constraints stay.
  """
  result = graph_pb2.GraphDef()
  result.CopyFrom(graph_def)
  strip_in_place(result)
  return result


def strip_in_place(graph_def: graph_pb2.GraphDef) -> None:
  """Like `strip`, for a GraphDef that the caller has just made."""
  for node in graph_def.node:
    if node.device:
      node.device = ''
  for function in graph_def.library.function:
    for node in function.node_def:
      if node.device:
        node.device = ''


def devices(graph_def: graph_pb2.GraphDef) -> dict[str, str]:
  """The devices that a graph has, the inverse of `annotate`.

  Args:
    graph_def: any GraphDef.

  Returns:
    {op path: device} of all nodes with a device, in bodies too. A function
    with several callers is listed under each.
  """
  functions = {f.signature.name: f for f in graph_def.library.function}
  found: dict[str, str] = {}

  def visit(nodes, prefix: str, active: tuple[str, ...]) -> None:
    for node in nodes:
      if node.device:
        found[prefix + node.name] = node.device
      if not functions:
        continue
      for label, function in function_refs.references(node, functions):
        if function not in active:  # recursive functions have no end
          visit(
            functions[function].node_def,
            op_path.enter(prefix + node.name, label),
            active + (function,),
          )

  visit(graph_def.node, '', ())
  return found
