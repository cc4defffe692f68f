"""What a family of graphs is, its members and its halves.

A family is a function that draws a configuration and one that builds the graph
of it. The table is made from the files of this folder: a module that has a
`FAMILY` is one:

  FAMILY = base.Family('tiny', 'two layers', 16, sample, build)

where `sample(draws)` returns a frozen dataclass whose `batch_size` can be
replaced, and `build(config)` the MetaGraphDef of a training step.

`Member`: one graph of a family.
  name: '<family>_<two digits>', 'cifar10_07'.
  index: 0 to 31; below 16 it is of the half 'train', else of 'test'.
  config: what it was drawn to be. No two members of a family are alike.
"""

import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from benchmarks import families
from benchmarks.families import draws as draws_lib

MEMBERS = 32
SPLITS = {
  'train': range(MEMBERS // 2),
  'test': range(MEMBERS // 2, MEMBERS),
  'all': range(MEMBERS),
}


@dataclasses.dataclass(frozen=True)
class Family:
  """A family of graphs.

  Attributes:
    name: What `--family` takes; snake_case.
    summary: One line: what it is, what varies.
    max_groups: Groups a graph in the paper, for `build.build`.
    sample: Takes Draws, returns a configuration.
    build: Takes a configuration, returns the MetaGraphDef of a training step.
  """

  name: str
  summary: str
  max_groups: int
  sample: Callable[[draws_lib.Draws], Any]
  build: Callable[[Any], tf.compat.v1.MetaGraphDef]


@dataclasses.dataclass(frozen=True)
class Member:
  """One graph of a family; see the module docstring."""

  family: Family
  index: int
  config: Any

  @property
  def name(self) -> str:
    """Its name, '<family>_<two digits>'."""
    return f'{self.family.name}_{self.index:02d}'

  def build(self) -> bytes:
    """Returns its MetaGraphDef, the same bytes at each call."""
    return self.family.build(self.config).SerializeToString(deterministic=True)


def members(
  family: str, split: str = 'all', *, seed: int = 0
) -> tuple[Member, ...]:
  """Returns the members of a family or of one of its halves; builds nothing.

  Args:
    family: One of `names()`.
    split: One of `SPLITS`.
    seed: Of the draws; another one gives another family of the same kind.

  Raises:
    ValueError: No such family or split; the message has the choices.
  """
  if split not in SPLITS:
    raise ValueError(
      f'There is no split {split!r}. Choose one of: {", ".join(SPLITS)}.'
    )
  found = get(family)
  configs: list[Any] = []
  for i in SPLITS['all']:
    draws = draws_lib.Draws(seed, f'{family}/{i}')
    config = found.sample(draws)
    while config in configs:  # As happens where only two numbers are drawn.
      config = found.sample(draws)
    configs.append(config)
  return tuple(Member(found, i, configs[i]) for i in SPLITS[split])


def names() -> tuple[str, ...]:
  """Returns the names of all families, sorted."""
  return tuple(sorted(_table()))


def get(name: str) -> Family:
  """Returns a family.

  Raises:
    ValueError: The name is none of `names()`; the message has them.
  """
  if name not in _table():
    raise ValueError(
      f'There is no family {name!r}. Choose one of: {", ".join(names())}.'
    )
  return _table()[name]


@functools.cache
def _table() -> dict[str, Family]:
  """Returns all families by name."""
  table = {}
  for info in pkgutil.iter_modules(families.__path__):
    if info.ispkg or info.name.endswith(('_test', '__main__')):
      continue
    module = importlib.import_module(f'{families.__name__}.{info.name}')
    family = getattr(module, 'FAMILY', None)
    if isinstance(family, Family):
      table[family.name] = family
  return table
