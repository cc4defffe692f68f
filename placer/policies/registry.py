"""The policies there are, found by looking at the files.

A policy is either a file in `placer/policies/heuristics/` with a `Policy`
subclass, known by its `name`, or a folder `placer/policies/NAME/` whose
`policy.py` has a subclass of that `name`. Heuristics are numpy only and all
imported at the first look; a folder's `policy.py` may import TensorFlow, so it
is imported only when that policy is asked for.
"""

import functools
import importlib
import inspect
import pkgutil
from types import ModuleType

from placer import policies
from placer.core import errors
from placer.core import placement_problem
from placer.policies import base
from placer.policies import heuristics

# What every search measures first: the single devices are what to beat.
BASELINES = ('single_device', 'original', 'expert')


def names() -> tuple[str, ...]:
  """The names of all policies, sorted."""
  return tuple(sorted({*_heuristics(), *_folders()}))


def get(name: str) -> type[base.Policy]:
  """The class of a policy.

  Args:
    name: what `--policy=` calls it.

  Returns:
    The Policy subclass.

  Raises:
    UsageError: no policy has that name; the message has the choices.
  """
  if name in _heuristics():
    return _heuristics()[name]
  if name in _folders():
    module = importlib.import_module(f'{policies.__name__}.{name}.policy')
    for policy in _subclasses(module):
      if policy.name == name:
        return policy
    raise ValueError(f'{module.__name__} has no Policy with name {name!r}.')
  raise errors.UsageError(
    f'Unknown policy {name!r}. There are: {", ".join(names())}. '
    'Pass one of them as --policy=…'
  )


def make(
  name: str, problem: placement_problem.PlacementProblem, *, seed: int = 0
) -> base.Policy:
  """Makes a policy for one problem.

  Args:
    name: what `--policy=` calls it.
    problem: G groups on D devices.
    seed: seeds the policy's own generator.

  Returns:
    The Policy.

  Raises:
    UsageError: no policy has that name.
  """
  return get(name)(problem, seed=seed)


def baselines(
  problem: placement_problem.PlacementProblem, *, seed: int = 0
) -> list[base.Policy]:
  """The policies that every search measures first, `BASELINES`, in order."""
  return [make(name, problem, seed=seed) for name in BASELINES]


@functools.cache
def _heuristics() -> dict[str, type[base.Policy]]:
  found: dict[str, type[base.Policy]] = {}
  for info in pkgutil.iter_modules(heuristics.__path__):
    if info.name.endswith('_test'):
      continue
    module = importlib.import_module(f'{heuristics.__name__}.{info.name}')
    for policy in _subclasses(module):
      if policy.name in found:
        raise ValueError(
          f'{policy} and {found[policy.name]} are both named {policy.name!r}.'
        )
      found[policy.name] = policy
  return found


@functools.cache
def _folders() -> tuple[str, ...]:
  found = []
  for info in pkgutil.iter_modules(policies.__path__):
    if not info.ispkg or info.name == 'heuristics':
      continue
    folder = importlib.import_module(f'{policies.__name__}.{info.name}')
    if any(m.name == 'policy' for m in pkgutil.iter_modules(folder.__path__)):
      found.append(info.name)
  return tuple(found)


def _subclasses(module: ModuleType) -> list[type[base.Policy]]:
  """The concrete policies that a module defines, not those it imports."""
  return [
    value
    for value in vars(module).values()
    if isinstance(value, type)
    and issubclass(value, base.Policy)
    and not inspect.isabstract(value)
    and value.__module__ == module.__name__
  ]
