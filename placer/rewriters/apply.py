"""Applies a Placement to a GraphDef outside the search that found it."""

from collections.abc import Mapping

from tensorflow.core.framework import graph_pb2

from placer.core import errors
from placer.core import placement as placement_lib
from placer.rewriters import export
from placer.rewriters import strip


def apply_placement(
  graph_def: graph_pb2.GraphDef,
  placement: placement_lib.Placement,
  *,
  devices: Mapping[str, str] | None = None,
) -> graph_pb2.GraphDef:
  """A copy of a graph with the devices of a placement, and no others.

  Args:
    graph_def: the graph the placement was found for, or one with the same op
      names; not edited.
    placement: from `placer.load_placement`.
    devices: {device in the placement: device to write instead}, where the
      placement is used on other devices than it was found on.

  Returns:
    The annotated copy, function bodies included. Ops that the graph has and
    the placement does not name have no device.

  Raises:
    UsageError: the placement names no op of the graph, or `devices` leaves
      one of its devices out.
  """
  known = _paths(graph_def)
  chosen = {
    path: device for path, device in placement.devices.items() if path in known
  }
  if placement.devices and not chosen:
    raise errors.UsageError(
      'The placement names none of the ops of this graph; it was made for '
      'another.'
    )
  if devices is not None:
    missing = set(chosen.values()) - devices.keys()
    if missing:
      raise errors.UsageError(
        f'devices says nothing of {", ".join(sorted(missing))}, which the '
        'placement uses.'
      )
    chosen = {path: devices[device] for path, device in chosen.items()}
  result = graph_pb2.GraphDef()
  export.place(graph_def, chosen, result)
  return result


def _paths(graph_def: graph_pb2.GraphDef) -> set[str]:
  """Every op path of the graph."""
  marked = graph_pb2.GraphDef()
  marked.CopyFrom(graph_def)
  for nodes in [marked.node] + [f.node_def for f in marked.library.function]:
    for node in nodes:
      node.device = '?'
  return set(strip.devices(marked))
