"""placer: device placement for TensorFlow graphs, measured on real devices.

graph_def = placer.apply_placement(
    graph_def, placer.load_placement('placement.json'))
"""

import importlib

# Public names and the modules they live in; imported when they are asked for,
# since most of them bring TensorFlow.
_PUBLIC = {
  'Placement': ('placer.core.placement', 'Placement'),
  'PlacerError': ('placer.core.errors', 'PlacerError'),
  'apply_placement': ('placer.rewriters.apply', 'apply_placement'),
  'load_graph': ('placer.importers.base', 'load'),
  'load_placement': ('placer.core.placement', 'load'),
}

__all__ = tuple(_PUBLIC)
__version__ = '0.1.0'


def __getattr__(name: str):
  if name in _PUBLIC:
    module, attribute = _PUBLIC[name]
    return getattr(importlib.import_module(module), attribute)
  raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
  return sorted([*globals(), *_PUBLIC])
