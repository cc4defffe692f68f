"""Logical CPU devices of the test's process, and placements over them.

A test that needs them calls `ask_for` at the top of its module: pytest imports
every test before it runs the first one, and later TensorFlow has started.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from placer.core import placement as placement_lib
from placer.devices import target
from placer.hooks import function_search
from placer.hooks import step_graph
from placer.hooks import traced_function
from placer.hooks import variable_devices

COUNT = 3


def ask_for() -> None:
  """Gives this process `COUNT` logical CPU devices."""
  (cpu,) = tf.config.list_physical_devices('CPU')
  if len(tf.config.get_logical_device_configuration(cpu) or ()) != COUNT:
    tf.config.set_logical_device_configuration(
      cpu, [tf.config.LogicalDeviceConfiguration()] * COUNT
    )


def name(index: int) -> str:
  """The full name of a logical device."""
  return f'/job:localhost/replica:0/task:0/device:CPU:{index}'


def spread(
  function: Callable[..., Any],
  *args: Any,
  kwargs: Mapping[str, Any] | None = None,
  seed: int = 0,
  move_variables: bool = False,
) -> placement_lib.Placement:
  """A random legal placement of a function; nothing is run.

  Args:
    function: what `placer.place_function` takes.
    *args: example arguments.
    kwargs: example keyword arguments.
    seed: of the placement.
    move_variables: whether variables may be placed elsewhere than they are.

  Returns:
    The Placement, on all logical devices.
  """
  topology = target.resolve(f'logical:{COUNT}')
  traced = traced_function.trace(
    traced_function.polymorphic(function), args, kwargs or {}, 'function'
  )
  problem = function_search.problem_of(
    step_graph.build(traced),
    topology,
    variable_devices.pinned(traced, topology, move_variables=move_variables),
  )
  rng = np.random.default_rng(seed)
  return problem.placement(
    np.array(
      [rng.choice(np.flatnonzero(row)) for row in problem.allowed], np.int32
    )
  )
