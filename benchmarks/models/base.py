"""What a built-in model is, and the table of all of them.

A model is a name and a function that returns one step of it as a
`tf.compat.v1.MetaGraphDef`, which `meta_graph` specifies field by field:

  meta_graph_def = base.build('inception_v3', training=True, batch_size=8)

The table is built from the files of this folder: a module that has a tuple
`MODELS` of `Model` is a model or a family of them. So a new model is one new
file, with no other edit:

  MODELS = (base.Model('tiny', 'two layers', 32, build),)

where `build(batch_size, training)` returns the MetaGraphDef, in most cases as
`meta_graph.build(forward, training=training)`.

Building creates graphs and, for Keras' models, resets Keras' global names
(`keras.utils.clear_session()`). It runs no step and initialises no device, but
a program with TensorFlow state of its own calls `python -m benchmarks.models`
in a child process.
"""

import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Callable

import tensorflow as tf

from benchmarks import models


@dataclasses.dataclass(frozen=True)
class Model:
  """One entry of the table.

  Attributes:
    name: What `build` and `--model` take; snake_case.
    summary: One line for `--list`: what it is, its sizes.
    batch_size: Examples a step where the caller names no number.
    make: Takes batch_size (at least 1) and training, returns the MetaGraphDef.
  """

  name: str
  summary: str
  batch_size: int
  make: Callable[[int, bool], tf.compat.v1.MetaGraphDef]


class UnknownModelError(ValueError):
  """The name is not in the table; the message has the names that are."""


def build(
  name: str, *, training: bool = False, batch_size: int | None = None
) -> tf.compat.v1.MetaGraphDef:
  """Returns one step of a built-in model.

  Two calls with the same arguments return the same bytes
  (`SerializeToString(deterministic=True)`), in one process or two.

  Args:
    name: One of `names()`.
    training: Forward, loss, backward and update with variables; otherwise the
      frozen forward pass.
    batch_size: Examples a step, at least 1; None for the model's default.

  Raises:
    UnknownModelError: The name is none of `names()`.
    ValueError: The batch size is below 1.
  """
  model = get(name)
  if batch_size is None:
    batch_size = model.batch_size
  if batch_size < 1:
    raise ValueError(
      f'batch_size is {batch_size}, but a step takes at least 1 example. '
      f'Leave it out for the default of {name}, {model.batch_size}.'
    )
  return model.make(batch_size, training)


def names() -> tuple[str, ...]:
  """Returns the names of all built-in models, sorted."""
  return tuple(sorted(_table()))


def get(name: str) -> Model:
  """Returns a model's entry.

  Raises:
    UnknownModelError: The name is none of `names()`.
  """
  if name not in _table():
    raise UnknownModelError(
      f'There is no built-in model {name!r}. Choose one of: '
      f'{", ".join(names())}.'
    )
  return _table()[name]


@functools.cache
def _table() -> dict[str, Model]:
  """Returns all models by name.

  Raises:
    ValueError: Two files define the same name.
  """
  table = {}
  for module_info in pkgutil.iter_modules(models.__path__):
    if module_info.ispkg or module_info.name.endswith(('_test', '__main__')):
      continue
    module = importlib.import_module(f'{models.__name__}.{module_info.name}')
    for model in getattr(module, 'MODELS', ()):
      if model.name in table:
        raise ValueError(
          f'Two files of {models.__name__} define the model {model.name!r}, '
          f'one of them {module_info.name}.py. Rename one.'
        )
      table[model.name] = model
  return table
