"""Finds the DeviceKinds by the files of this folder."""

import functools
import importlib
import inspect
import pkgutil

from placer.devices import kinds
from placer.devices.kinds import base


@functools.cache
def all_kinds() -> tuple[base.DeviceKind, ...]:
  """One object of each kind, in the order in which they are asked."""
  found = []
  for module_info in pkgutil.iter_modules(kinds.__path__):
    if module_info.name.endswith('_test'):
      continue
    module = importlib.import_module(f'{kinds.__name__}.{module_info.name}')
    found.extend(
      value()
      for value in vars(module).values()
      if inspect.isclass(value)
      and issubclass(value, base.DeviceKind)
      and not inspect.isabstract(value)
    )
  return tuple(sorted(found, key=lambda kind: (kind.priority, kind.form)))


def find(spec: str) -> base.DeviceKind | None:
  """The first kind that matches `spec`, or None."""
  return next((kind for kind in all_kinds() if kind.matches(spec)), None)


def forms() -> str:
  """All forms with their summaries, for messages."""
  return '; '.join(f'{kind.form} ({kind.summary})' for kind in all_kinds())
