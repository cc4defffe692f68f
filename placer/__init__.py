"""placer: device placement for TensorFlow graphs, measured on real devices.

graph_def = placer.apply_placement(
    graph_def, placer.load_placement('placement.json'))
placed_step = placer.place_function(train_step, images, labels)
"""

import importlib

# Public names and the modules they live in; imported when they are asked for,
# since most of them bring TensorFlow.
_PUBLIC = {
  'DevicesElsewhereError': (
    'placer.hooks.process_devices',
    'DevicesElsewhereError',
  ),
  'Placement': ('placer.core.placement', 'Placement'),
  'PlacerError': ('placer.core.errors', 'PlacerError'),
  'apply_placement': (
    'placer.hooks.apply_placement',
    'apply_placement',
  ),
  'load_graph': ('placer.importers.base', 'load'),
  'load_placement': ('placer.core.placement', 'load'),
  'place_function': ('placer.hooks.place_function', 'place_function'),
  'placed': ('placer.hooks.place_function', 'placed'),
  'placement_of': ('placer.hooks.place_function', 'placement_of'),
  'run_and_read_back': ('placer.hooks.read_back', 'run_and_read_back'),
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
