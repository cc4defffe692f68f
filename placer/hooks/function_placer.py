"""FunctionPlacer: what a placed function does when it is traced.

For each new signature:

    trace the user's function                       `traced_function.py`
    find a placement, or use the one it has         `function_search.py`
    import the trace with these devices             `reimport.py`
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging
from tensorflow.core.framework import graph_pb2

from placer.core import errors
from placer.core import placement as placement_lib
from placer.devices import target
from placer.hooks import call_in_progress
from placer.hooks import function_search
from placer.hooks import options as options_lib
from placer.hooks import process_devices
from placer.hooks import reimport
from placer.hooks import step_graph
from placer.hooks import traced_function
from placer.hooks import variable_devices

# Ops that appear and vanish with the shapes that are known in a trace.
_BY_SHAPE = frozenset(('Const', 'NoOp', 'Identity'))


class FunctionPlacer:
  """Traces, searches and imports; see the module docstring.

  Attributes:
    name: of the function.
    options: what it was told.
    placement: the Placement of the last trace; None before the first, and for
      a trace that runs without.
    last: the last trace, inlined, and its graph with devices; None before the
      first.
  """

  def __init__(
    self, function: Callable[..., Any], options: options_lib.HookOptions
  ) -> None:
    """Wraps a function; nothing is traced yet.

    Args:
      function: what the user gave.
      options: what to do.

    Raises:
      UsageError: it cannot be called, or is jit-compiled and options do not
        allow for running it op by op.
    """
    self.name = traced_function.name_of(function)
    self.options = options
    self.placement: placement_lib.Placement | None = None
    self.last: tuple[reimport.InlinedFunction, graph_pb2.GraphDef] | None = None
    self._given = function
    self._private = traced_function.polymorphic(function)
    self._searches = 0
    # Each placement with the ops that it was found for, {op path: type}; None
    # for one that was given. The newest is the last.
    self._known: list[
      tuple[placement_lib.Placement, Mapping[str, str] | None]
    ] = []
    if options.placement is not None:
      self._known.append((self._here(options.placement), None))
    if getattr(self._private, '_jit_compile', None):
      self._jit_compiled()

  @property
  def input_signature(self) -> Any:
    """That of the user's tf.function, else None."""
    return self._private.input_signature

  @property
  def reduce_retracing(self) -> bool:
    """That of the user's tf.function, else False."""
    return bool(getattr(self._private, '_reduce_retracing', False))

  def traced(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The body of the PlacedFunction.

    Args:
      args: positional arguments of a trace, symbolic.
      kwargs: keyword arguments.

    Returns:
      The function's outputs, computed by the placed graph.

    Raises:
      PlacerError: the function cannot be placed; why and the cure.
    """
    if tf.executing_eagerly():  # tf.config.run_functions_eagerly
      return self._given(*args, **kwargs)
    traced = self._trace(args, kwargs)
    inlined = reimport.inline(traced)
    placement = self._placement_of(traced, inlined, args)
    self.placement = placement
    devices = None if placement is None else placement.devices
    graph_def = reimport.with_devices(
      inlined, devices, variable_devices.current(traced)
    )
    if devices is not None:
      wanted = variable_devices.misplaced(traced, graph_def)
      if wanted and self.options.move_variables:
        variable_devices.move(traced, wanted)
        # Traces hold the old resources.
        self._private = traced_function.polymorphic(self._given)
        traced = self._trace(args, kwargs)
        inlined = reimport.inline(traced)
        graph_def = reimport.with_devices(
          inlined, devices, variable_devices.current(traced)
        )
      else:
        variable_devices.refuse(traced, wanted)
    self.last = inlined, graph_def
    return reimport.into_default_graph(
      inlined, graph_def, traced.flat_inputs(args, kwargs)
    )

  def _trace(
    self, args: Sequence[Any], kwargs: Mapping[str, Any]
  ) -> traced_function.TracedFunction:
    traced = traced_function.trace(self._private, args, kwargs, self.name)
    if traced.jitted:
      self._jit_compiled()
    return traced

  def _jit_compiled(self) -> None:
    if self.options.un_jit:
      logging.warning(
        '%s is marked jit_compile=True, which ignores devices; it runs op by '
        'op (un_jit=True).',
        self.name,
      )
      return
    raise errors.UsageError(
      f'{self.name} is, or calls, a tf.function with jit_compile=True: XLA '
      'compiles it as one program for one device and ignores the devices of '
      'its ops. Pass un_jit=True to run it op by op under the placement, or '
      'leave jit_compile out.'
    )

  def _placement_of(
    self,
    traced: traced_function.TracedFunction,
    inlined: reimport.InlinedFunction,
    args: Sequence[Any],
  ) -> placement_lib.Placement | None:
    """The placement of a trace; None to run it as it is."""
    if not self._known:
      return self._search(traced, inlined, args)
    ops = {
      path: kind
      for path, kind in inlined.op_types.items()
      if kind not in _BY_SHAPE
    }
    known, same = max(
      ((each[0], _corresponding(ops, *each)) for each in self._known),
      key=lambda pair: pair[1],
    )
    total = len(ops)
    if same == total:
      return known
    choice = self.options.if_changed
    if not same and choice == options_lib.REUSE:
      raise errors.UsageError(
        f'The placement names none of the {total} ops of {self.name}; it was '
        'made for another function.'
      )
    logging.warning(
      '%s has changed: %d of its %d ops are those of the placement. %s',
      self.name,
      same,
      total,
      {
        options_lib.SEARCH: 'Searching again.',
        options_lib.REUSE: 'The others go beside them.',
        options_lib.ORIGINAL: 'It runs without a placement.',
      }[choice],
    )
    if choice == options_lib.SEARCH:
      return self._search(traced, inlined, args)
    return known if choice == options_lib.REUSE else None

  def _search(
    self,
    traced: traced_function.TracedFunction,
    inlined: reimport.InlinedFunction,
    args: Sequence[Any],
  ) -> placement_lib.Placement | None:
    options = self.options
    topology = target.resolve(options.devices)
    process_devices.check(topology)
    if not inlined.op_types:
      return None
    if sentence := target.nothing_to_place(topology):
      logging.warning('%s runs as it is. %s', self.name, sentence)
      return None
    example = call_in_progress.values(traced, args)
    pinned = {}
    if not process_devices.is_elsewhere(topology):
      pinned = variable_devices.pinned(
        traced, topology, example, move_variables=options.move_variables
      )
    with tf.init_scope():  # values of variables cannot be read in a graph
      step = step_graph.build(traced, example)
    problem = function_search.problem_of(step, topology, pinned)
    found = function_search.find(
      self.name, step, problem, options, self._output_dir()
    )
    if process_devices.is_elsewhere(topology) and options.device_names is None:
      raise process_devices.elsewhere(
        self.name, topology, found.placement, found.path
      )
    placement = self._here(found.placement)
    self._known.append((placement, inlined.op_types))
    return placement

  def _here(
    self, placement: placement_lib.Placement
  ) -> placement_lib.Placement:
    """A placement with the names that its devices have in this process."""
    return process_devices.in_this_process(
      placement, self.options.device_names, self.name
    )

  def _output_dir(self) -> str:
    self._searches += 1
    folder = self.options.output_dir
    if not folder or self._searches == 1:
      return folder
    return os.path.normpath(folder) + f'-{self._searches}'


def _corresponding(
  ops: Mapping[str, str],
  placement: placement_lib.Placement,
  placed: Mapping[str, str] | None,
) -> int:
  """How many of these ops {path: type} a placement is for."""
  if placed is None:
    return sum(path in placement.devices for path in ops)
  return sum(placed.get(path) == kind for path, kind in ops.items())
