"""What is in a graph, which ops can move, and what would block it.

    placer inspect --graph=model.pb
    placer inspect --model=inception_v3 --training

Prints the ops of a step, what is fed and fetched, what stays together, which
ops have kernels on which kinds of devices, and the ops that reach outside the
process. Runs nothing and needs no device. --json prints the same for programs.
Of a graph of measured costs it prints what the file says of times and devices.
"""

import dataclasses
import json
from collections.abc import Sequence

from absl import flags

from placer.cli import cost_graph_text
from placer.cli import graph_flags
from placer.measurers import side_effects
from placer.problems import build
from placer.problems import inspection

SUMMARY = 'what is in a graph, which ops can move, what would block it'
_SHOWN = 8


def define(values: flags.FlagValues) -> None:
  """Defines the command's flags in `values`."""
  graph_flags.define(values)
  flags.DEFINE_integer(
    'max_groups',
    build.DEFAULT_MAX_GROUPS,
    'Groups of ops that a policy decides on.',
    lower_bound=1,
    flag_values=values,
  )
  flags.DEFINE_boolean(
    'json', False, 'Print JSON instead of text.', flag_values=values
  )


def run(values: flags.FlagValues, command: Sequence[str]) -> int:
  """Runs the command.

  Args:
    values: parsed flags.
    command: the command line.

  Returns:
    The exit code, 0.
  """
  del command
  measured = graph_flags.cost_graph(values)
  if measured is not None:
    summary = cost_graph_text.summarise(measured)
    if values.json:
      print(json.dumps(summary, indent=1))
    else:
      print(cost_graph_text.render(summary))
    return 0
  imported = graph_flags.load(values)
  found = inspection.inspect(imported, max_groups=values.max_groups)
  outside = side_effects.side_effects(imported.graph_def)
  outside = [(imported.program.path(name), kind) for name, kind in outside]
  if values.json:
    payload = dataclasses.asdict(found)
    payload['reaches_outside'] = outside
    print(json.dumps(payload, indent=1))
  else:
    print(render(found, outside))
  return 0


def render(
  found: inspection.Inspection,
  outside: Sequence[tuple[str, str]],
) -> str:
  """The text of an Inspection.

  Args:
    found: the Inspection.
    outside: (op path, type) of ops that reach outside the process.

  Returns:
    Lines of text.
  """
  lines = [
    f'{found.source}: {found.kind}, {found.nodes:,} nodes'
    + (f', {found.functions:,} functions' if found.functions else ''),
    f'A step runs {found.ops:,} ops'
    f' ({_some(f"{n} {t}" for t, n in found.op_types)})',
    f'  computes    about {found.flops / 1e9:.2f} GFLOP',
    f'  keeps       {_size(found.persistent_bytes)} of variables and constants',
    f'  is fed      {_some(found.feeds) or "nothing"}',
    f'  fetches     {_some(found.fetches)}',
    '  largest     '
    + (
      _some(f'{name} {_size(size)}' for name, size in found.largest_tensors)
      or 'no tensor'
    ),
    'Placement',
    f'  groups      {found.groups:,} to decide on'
    + _largest(found.largest_hard_groups),
  ]
  for kind, count in found.supported.items():
    lines.append(f'  {kind} kernels {count:,} of {found.ops:,} ops')
  if found.original_devices:
    lines.append(
      '  devices     in the graph: '
      + _some(f'{d} ({n} ops)' for d, n in found.original_devices.items())
    )
  if found.unsupported:
    lines.append(
      f'Blocks it: {len(found.unsupported)} ops have no kernel on any device'
    )
    lines += [f'  - {why}' for why in found.unsupported[:_SHOWN]]
  if found.blockers:
    lines.append(f'Cannot move everywhere: {len(found.blockers)} ops')
    lines += [f'  - {why}' for _, why in found.blockers[:_SHOWN]]
  if outside:
    lines.append(
      f'Reach outside the process: {len(outside)} ops, which are not run '
      'unless --allow_side_effects names them'
    )
    lines += [f'  - {name} ({kind})' for name, kind in outside[:_SHOWN]]
  if found.notes:
    lines.append('Notes')
    lines += [f'  - {note}' for note in found.notes]
  return '\n'.join(lines)


def _largest(groups: Sequence[tuple[int, str]]) -> str:
  if not groups:
    return ''
  return '; tied together: ' + _some(f'{n} ops with {p}' for n, p in groups)


def _some(items) -> str:
  items = list(items)
  more = f' and {len(items) - 5} more' if len(items) > 5 else ''
  return ', '.join(items[:5]) + more


def _size(size_bytes: int) -> str:
  for unit, limit in (('GB', 1e9), ('MB', 1e6), ('kB', 1e3)):
    if size_bytes >= limit:
      return f'{size_bytes / limit:.1f} {unit}'
  return f'{size_bytes} B'
