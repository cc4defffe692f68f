"""`placer.place_function` and `@placer.placed`: one line for a function.

    placed_step = placer.place_function(train_step, images, labels)

    @placer.placed(devices='auto', budget_seconds=60)
    def train_step(images, labels):
      ...

Both give a tf.function with the same signature, outputs, captured variables,
docstring and `get_concrete_function`, whose ops run where the placement has
them. The search runs in child processes; in this process nothing but the
function itself is traced.
"""

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any

from placer.core import errors
from placer.core import placement as placement_lib
from placer.hooks import options as options_lib
from placer.hooks import placed_function
from placer.hooks import traced_function


def placed(
  function: Callable[..., Any] | None = None,
  *,
  devices: str = 'auto',
  policy: str = 'portfolio',
  budget_seconds: float = 180.0,
  budget_trials: int | None = None,
  output_dir: str | os.PathLike[str] | None = None,
  placement: placement_lib.Placement | None = None,
  device_names: Mapping[str, str] | None = None,
  if_changed: str | None = None,
  un_jit: bool = False,
  move_variables: bool = False,
  allow_side_effects: tuple[str, ...] = (),
  use_cache: bool = True,
  seed: int = 0,
) -> Any:
  """A decorator: the function runs under a placement, found at its first call.

  Args:
    function: what is decorated, if `@placer.placed` is written without
      parentheses.
    devices: as `--devices`: 'auto', 'GPU:0,GPU:1', 'logical:3', 'local:2'. Of
      workers (`local:N`) a placement is found and written, but it cannot run
      here.
    policy: what suggests placements; several with commas between.
    budget_seconds: wall time of a search; 0 for no limit.
    budget_trials: trials of a search; None for no limit.
    output_dir: folder for placement.json, report.json and trials.jsonl, from
      which a stopped search goes on; None keeps the placement in the cache
      only.
    placement: from `placer.load_placement`, instead of a search.
    device_names: {device in the placement: device to use instead}.
    if_changed: for a later trace with other ops: 'search' for another
      placement (the default), 'reuse' this one where ops correspond (the
      default with `placement`), 'original' to run without.
    un_jit: run a function with jit_compile=True op by op, instead of refusing
      it: XLA ignores devices.
    move_variables: move variables to the devices of the placement, values
      kept. tf.functions traced before fail until they are traced again. False
      leaves variables where they are, and what reads them with them.
    allow_side_effects: types of ops that reach outside the process (files,
      sockets) and may run in the processes that measure.
    use_cache: whether to take the placement that an earlier search found for
      the same graph, devices, policy and versions.
    seed: of made inputs, policies and intervals.

  Returns:
    A decorator for functions and methods, tf.function or not; of a function,
    the placed function.

  Raises:
    UsageError: an argument makes no sense, or, when it decorates, the function
      cannot be placed.
  """
  if if_changed is None:
    if_changed = options_lib.SEARCH if placement is None else options_lib.REUSE
  elif placement is not None and if_changed == options_lib.SEARCH:
    raise errors.UsageError(
      "if_changed='search' has no search to repeat where placement= is given. "
      "Choose 'reuse' or 'original'."
    )
  options = options_lib.HookOptions(
    devices=devices,
    policy=policy,
    budget_seconds=budget_seconds,
    budget_trials=budget_trials,
    output_dir=os.path.abspath(output_dir) if output_dir else '',
    placement=placement,
    device_names=device_names,
    if_changed=if_changed,
    un_jit=un_jit,
    move_variables=move_variables,
    allow_side_effects=tuple(allow_side_effects),
    use_cache=use_cache,
    seed=seed,
  )
  if function is not None:
    return placed_function.make(function, options)
  return functools.partial(placed_function.make, options=options)


def place_function(
  function: Callable[..., Any],
  *example_args: Any,
  example_kwargs: Mapping[str, Any] | None = None,
  **options: Any,
) -> placed_function.PlacedFunction:
  """Finds a placement for a function, and returns the function under it.

  Args:
    function: a Python function or method, a tf.function, a ConcreteFunction,
      a Keras model, a function of a loaded SavedModel.
    *example_args: arguments as it is called with: tensors, nests of them,
      Python values. A step is measured with their values. tf.TensorSpecs do,
      too; values are then made.
    example_kwargs: keyword arguments as it is called with.
    **options: those of `placed`.

  Returns:
    A tf.function. Other signatures than the example's are traced when they
    are called, and use the same placement where their ops are the same.

  Raises:
    UsageError: an argument makes no sense, or the function cannot be placed.
    DevicesElsewhereError: the placement that was found is for devices that
      this process does not have; it is written to a file.
    NoFeasiblePlacementError: no placement ran on the devices.
  """
  result = placed(**options)(function)
  result.get_concrete_function(*example_args, **dict(example_kwargs or {}))
  return result


def placement_of(
  function: placed_function.PlacedFunction,
) -> placement_lib.Placement:
  """The placement that a placed function was last traced with.

  Args:
    function: of `place_function`, `placed` or `apply_placement`.

  Returns:
    The Placement, with op paths of the traced function.

  Raises:
    UsageError: it is no placed function, it was not traced yet, or it runs
      without a placement.
  """
  state = getattr(function, 'placer_state', None)
  if state is None:
    raise errors.UsageError(
      f'{traced_function.name_of(function)} is not a placed function. '
      'placer.place_function and placer.placed make one.'
    )
  if state.placement is None:
    raise errors.UsageError(
      f'{state.name} has no placement: it was not called yet, or it runs as '
      'it is.'
    )
  return state.placement
