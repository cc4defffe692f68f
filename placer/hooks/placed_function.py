"""PlacedFunction: a tf.function whose traces run under a placement.

It is a tf.function in all that TensorFlow sees: called, nested, differentiated,
bound to objects, saved. Only its Python function is placer's: for each new
signature it

    traces the user's function                       `traced_function.py`
    finds a placement, or uses the one it has        `function_search.py`
    imports the trace with these devices             `reimport.py`
"""

import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging
from tensorflow.core.framework import graph_pb2
from tensorflow.python.eager.polymorphic_function import polymorphic_function

from placer.core import errors
from placer.core import placement as placement_lib
from placer.devices import target
from placer.hooks import function_search
from placer.hooks import options as options_lib
from placer.hooks import process_devices
from placer.hooks import reimport
from placer.hooks import step_graph
from placer.hooks import traced_function
from placer.hooks import variable_devices

# Ops that appear and vanish with the shapes that are known in a trace.
_BY_SHAPE = frozenset(('Const', 'NoOp', 'Identity'))
_calls = threading.local()


class PlacedFunction(polymorphic_function.Function):
  """A tf.function under a placement; see the module docstring.

  Attributes:
    placer_state: the FunctionPlacer.
  """

  placer_state: 'FunctionPlacer'

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    """Calls the function; the first call of a signature may search."""
    with _Example(args, kwargs):
      return super().__call__(*args, **kwargs)

  def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
    """See `tf.function`; the first one of a signature may search."""
    with _Example(args, kwargs):
      return super().get_concrete_function(*args, **kwargs)

  def __get__(self, instance: Any, owner: Any) -> Any:
    bound = super().__get__(instance, owner)
    if bound is not self:
      bound.placer_state = self.placer_state
    return bound


class _Example:
  """The arguments of the call in progress, whose values a search can use."""

  def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    self._call = args, kwargs

  def __enter__(self) -> None:
    self._outer = getattr(_calls, 'current', None)
    _calls.current = self._call

  def __exit__(self, *exception: Any) -> None:
    _calls.current = self._outer


class FunctionPlacer:
  """What a PlacedFunction does when it is traced, and what it found.

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
    self._known: placement_lib.Placement | None = None
    # Ops that the placement was found for: {op path: type}; None for a
    # placement that was given.
    self._placed_ops: Mapping[str, str] | None = None
    if options.placement is not None:
      self._found(self._here(options.placement), None)
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
    held = variable_devices.held(traced)
    graph_def = reimport.with_devices(inlined, devices, held)
    if devices is not None:
      wanted = variable_devices.misplaced(traced, graph_def)
      if wanted and self.options.move_variables:
        variable_devices.move(traced, wanted)
        # Traces hold the old resources.
        self._private = traced_function.polymorphic(self._given)
        inlined = reimport.inline(self._trace(args, kwargs))
        graph_def = reimport.with_devices(inlined, devices, held)
      else:
        variable_devices.refuse(traced, wanted)
    self.last = inlined, graph_def
    return reimport.into_default_graph(
      inlined, graph_def, inlined.traced.flat_inputs(args, kwargs)
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
    known = self._known
    if known is None:
      return self._search(traced, inlined, args)
    same, total = self._correspondence(inlined, known)
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

  def _correspondence(
    self,
    inlined: reimport.InlinedFunction,
    known: placement_lib.Placement,
  ) -> tuple[int, int]:
    """(ops of a trace that the placement is for, all ops that matter)."""
    ops = {
      path: kind
      for path, kind in inlined.op_types.items()
      if kind not in _BY_SHAPE
    }
    if self._placed_ops is None:
      return sum(path in known.devices for path in ops), len(ops)
    placed = self._placed_ops
    return sum(placed.get(path) == kind for path, kind in ops.items()), len(ops)

  def _found(
    self,
    placement: placement_lib.Placement,
    op_types: Mapping[str, str] | None,
  ) -> None:
    self._known = placement
    self._placed_ops = op_types

  def _search(
    self,
    traced: traced_function.TracedFunction,
    inlined: reimport.InlinedFunction,
    args: Sequence[Any],
  ) -> placement_lib.Placement | None:
    options = self.options
    topology = target.resolve(options.devices)
    process_devices.check(topology)
    if sentence := target.nothing_to_place(topology):
      logging.warning('%s runs as it is. %s', self.name, sentence)
      return None
    pinned = {}
    if not process_devices.is_elsewhere(topology):
      pinned = variable_devices.pinned(
        traced, topology, move_variables=options.move_variables
      )
    with tf.init_scope():  # values of variables cannot be read in a graph
      step = step_graph.build(traced, _example(traced, args))
    problem = function_search.problem_of(step, topology, pinned)
    found = function_search.find(
      self.name, step, problem, options, self._output_dir()
    )
    if process_devices.is_elsewhere(topology) and options.device_names is None:
      raise process_devices.elsewhere(
        self.name, topology, found.placement, found.path
      )
    placement = self._here(found.placement)
    self._found(placement, inlined.op_types)
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


def _example(
  traced: traced_function.TracedFunction, args: Sequence[Any]
) -> list[tf.Tensor] | None:
  """The values of the arguments in the call in progress, if it has any.

  Args:
    traced: what is traced for the call.
    args: the positional arguments of the trace; the first is the object if a
      method is called, which the call itself does not name.

  Returns:
    A tensor for each argument, or None.
  """
  call = getattr(_calls, 'current', None)
  if call is None:
    return None
  for positional in (call[0], (*args[:1], *call[0])):
    try:
      tensors = traced.flat_inputs(positional, call[1])
    except (TypeError, ValueError):
      continue
    if traced.fits(tensors):
      return tensors
  return None


def make(
  function: Callable[..., Any], options: options_lib.HookOptions
) -> PlacedFunction:
  """The PlacedFunction of what the user gave.

  Args:
    function: anything that can be called.
    options: what to do.

  Returns:
    A PlacedFunction; nothing is traced yet.

  Raises:
    UsageError: see `FunctionPlacer`.
  """
  state = FunctionPlacer(function, options)
  python_function = getattr(function, 'python_function', function)

  def placed(*args: Any, **kwargs: Any) -> Any:
    return state.traced(args, kwargs)

  functools.update_wrapper(placed, python_function, updated=())
  result = PlacedFunction(
    placed,
    name=state.name,
    input_signature=state.input_signature,
    autograph=False,
    reduce_retracing=state.reduce_retracing,
  )
  result.placer_state = state
  return result
