"""`placer.apply_placement`: a placement on a graph or on a function."""

from collections.abc import Callable, Mapping
from typing import Any

from tensorflow.core.framework import graph_pb2

from placer.core import errors
from placer.core import placement as placement_lib
from placer.rewriters import apply


def apply_placement(
  graph_or_function: graph_pb2.GraphDef | Callable[..., Any],
  placement: placement_lib.Placement,
  *,
  devices: Mapping[str, str] | None = None,
  **options: Any,
) -> Any:
  """A graph or a function under a placement, without a search.

  Args:
    graph_or_function: a GraphDef, which is not edited, or what
      `placer.place_function` takes.
    placement: from `placer.load_placement` or `placer.placement_of`.
    devices: {device in the placement: device to use instead}, where the
      placement is used on other devices than it was found on.
    **options: of a function: `if_changed`, `un_jit` and `move_variables` of
      `placer.placed`.

  Returns:
    Of a GraphDef, an annotated copy. Of a function, a tf.function that is
    traced when it is called.

  Raises:
    UsageError: the placement names no op of the graph (of a function: told
      when it is called), `devices` leaves one of its devices out, or an option
      makes no sense.
  """
  if isinstance(graph_or_function, graph_pb2.GraphDef):
    if options:
      raise errors.UsageError(
        f'{", ".join(sorted(options))}: only for functions, not for a GraphDef.'
      )
    return apply.apply_placement(graph_or_function, placement, devices=devices)
  # Brings the TensorFlow runtime, which a GraphDef does not need.
  from placer.hooks import place_function

  unknown = options.keys() - {'if_changed', 'un_jit', 'move_variables'}
  if unknown:
    raise errors.UsageError(
      f'apply_placement does not know {", ".join(sorted(unknown))}. Options: '
      'devices, if_changed, un_jit, move_variables.'
    )
  return place_function.placed(
    placement=placement, device_names=devices, **options
  )(graph_or_function)
