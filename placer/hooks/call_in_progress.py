"""The call in progress: its arguments have values that a search can use.

A function is traced with symbols for its arguments; what they hold is known
only to whoever called it.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from placer.hooks import traced_function

_calls = threading.local()


class CallInProgress:
  """A context in which `values` knows the arguments of a call."""

  def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    self._call = args, kwargs

  def __enter__(self) -> None:
    self._outer = getattr(_calls, 'current', None)
    _calls.current = self._call

  def __exit__(self, *exception: Any) -> None:
    _calls.current = self._outer


def values(
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
