"""PlacedFunction: a tf.function whose traces run under a placement.

It is a tf.function in all that TensorFlow sees: called, nested, differentiated,
bound to objects, saved. Only what it does when it is traced is placer's.
"""

import functools
from collections.abc import Callable
from typing import Any

from tensorflow.python.eager.polymorphic_function import polymorphic_function
from tensorflow.python.util import tf_decorator

from placer.hooks import call_in_progress
from placer.hooks import function_placer
from placer.hooks import options as options_lib


class PlacedFunction(polymorphic_function.Function):
  """A tf.function under a placement; see the module docstring.

  Attributes:
    placer_state: the FunctionPlacer.
  """

  placer_state: function_placer.FunctionPlacer

  def __call__(self, *args: Any, **kwargs: Any) -> Any:
    """Calls the function; the first call of a signature may search."""
    with call_in_progress.CallInProgress(args, kwargs):
      return super().__call__(*args, **kwargs)

  def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
    """See `tf.function`; the first one of a signature may search."""
    with call_in_progress.CallInProgress(args, kwargs):
      return super().get_concrete_function(*args, **kwargs)

  def __get__(self, instance: Any, owner: Any) -> Any:
    bound = super().__get__(instance, owner)
    if bound is not self:
      bound.placer_state = self.placer_state
    return bound


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
  state = function_placer.FunctionPlacer(function, options)
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
  return tf_decorator.make_decorator(
    python_function, result, decorator_name='placer.placed'
  )
