"""Runs a function and its placed twin side by side, for tests of the hook."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

import placer
from placer.testing import logical_devices

# Other devices do the same sums in the same order; what Grappler fuses varies.
_RTOL, _ATOL = 1e-5, 1e-6

# Makes a function and the variables that it reads and writes.
Make = Callable[[], tuple[Callable[..., Any], Sequence[tf.Variable]]]


def normal(*shape: int, seed: int = 0) -> tf.Tensor:
  """float32, the same for the same shape and seed."""
  return tf.random.stateless_normal(shape, [seed, 7])


def place(
  function: Callable[..., Any], *args: Any, **options: Any
) -> Callable[..., Any]:
  """A function under a random placement on the logical devices.

  Args:
    function: what `placer.place_function` takes.
    *args: example arguments.
    **options: of `placer.apply_placement`.

  Returns:
    The placed function; variables stay where they are.
  """
  return placer.apply_placement(
    function, logical_devices.spread(function, *args), **options
  )


def assert_close(one: Any, other: Any) -> None:
  """Equal structures, and equal leaves within float tolerance."""
  tf.nest.assert_same_structure(one, other, expand_composites=True)
  for a, b in zip(
    tf.nest.flatten(one, expand_composites=True),
    tf.nest.flatten(other, expand_composites=True),
    strict=True,
  ):
    if tf.is_tensor(a) and a.dtype.is_floating:
      a, b = tf.cast(a, tf.float32), tf.cast(b, tf.float32)
      np.testing.assert_allclose(a, b, rtol=_RTOL, atol=_ATOL)
    else:
      np.testing.assert_array_equal(a, b)


def assert_as_requested(
  placed: Callable[..., Any],
  *args: Any,
  kwargs: Mapping[str, Any] | None = None,
) -> None:
  """More than one device is used, and each op that runs is on its own."""
  ran = placer.run_and_read_back(placed, *args, **(kwargs or {}))
  wanted = placer.placement_of(placed).devices
  np.testing.assert_equal(ran.moved_ops, ())
  if len(set(ran.actual.values())) < 2:
    raise AssertionError(f'Only one device was used: {ran}')
  for path, device in ran.actual.items():
    if wanted.get(path, device) != device or ran.requested[path] != device:
      raise AssertionError(f'{path} was to run on {wanted[path]}: {device}')


def assert_same_steps(
  make: Make,
  *args: Any,
  kwargs: Mapping[str, Any] | None = None,
  steps: int = 5,
) -> Callable[..., Any]:
  """Steps of a function and of a placed twin: equal outputs and variables.

  Args:
    make: makes the function, each time with variables of its own.
    *args: what both are called with.
    kwargs: keyword arguments.
    steps: how many.

  Returns:
    The placed twin.
  """
  kwargs = kwargs or {}
  function, variables = make()
  twin, twins_variables = make()
  function = tf.function(function)
  placement = logical_devices.spread(twin, *args, kwargs=kwargs)
  placed = placer.apply_placement(twin, placement)
  tf.random.set_seed(3)  # restarts the generators of unseeded ops
  expected = [function(*args, **kwargs) for _ in range(steps)]
  tf.random.set_seed(3)
  found = [placed(*args, **kwargs) for _ in range(steps)]
  assert_close(expected, found)
  assert_close(
    [tf.convert_to_tensor(variable) for variable in variables],
    [tf.convert_to_tensor(variable) for variable in twins_variables],
  )
  assert_as_requested(placed, *args, kwargs=kwargs)
  return placed
