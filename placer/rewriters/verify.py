"""Checks that an annotated graph is the graph it was made from.

Same nodes, same edges, same attributes; only devices differ, and functions
that were copied to hold two sets of devices. Devices are legal, colocation is
kept.
"""

import re
from collections.abc import Collection, Iterable

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.core import errors

_COPY = re.compile(r'_placer_\d+$')


def verify(
  original: graph_pb2.GraphDef,
  annotated: graph_pb2.GraphDef,
  *,
  legal_devices: Collection[str] | None = None,
) -> None:
  """Checks that `annotated` is `original` with legal devices.

  Args:
    original: the graph before.
    annotated: the graph after `annotate`.
    legal_devices: full names of the devices that may occur; None for any.

  Raises:
    PlacerError: what differs, first difference first.
  """
  _same_nodes(original.node, annotated.node, 'the graph')
  before = {f.signature.name: f for f in original.library.function}
  for function in annotated.library.function:
    name = function.signature.name
    source = before.get(name) or before.get(_COPY.sub('', name))
    if source is None:
      raise errors.PlacerError(f'Function {name!r} is not in the original.')
    _same_nodes(source.node_def, function.node_def, f'function {name!r}')
  missing = before.keys() - {
    f.signature.name for f in annotated.library.function
  }
  if missing:
    raise errors.PlacerError(f'Functions were lost: {sorted(missing)[:5]}.')
  if legal_devices is not None:
    _check_devices(annotated, frozenset(legal_devices))
  _check_colocation(annotated.node)


def _same_nodes(
  before: Iterable[node_def_pb2.NodeDef],
  after: Iterable[node_def_pb2.NodeDef],
  where: str,
) -> None:
  before, after = list(before), list(after)
  if len(before) != len(after):
    raise errors.PlacerError(
      f'{where} had {len(before)} nodes and now has {len(after)}.'
    )
  for old, new in zip(before, after, strict=True):
    if old.name != new.name or _COPY.sub('', new.op) != _COPY.sub('', old.op):
      raise errors.PlacerError(
        f'Node {old.name!r} ({old.op}) of {where} became {new.name!r} '
        f'({new.op}).'
      )
    if old.input != new.input:
      raise errors.PlacerError(
        f'The inputs of {old.name!r} in {where} changed.'
      )
    if old.attr.keys() != new.attr.keys():
      raise errors.PlacerError(
        f'The attributes of {old.name!r} in {where} changed.'
      )


def _check_devices(
  graph_def: graph_pb2.GraphDef, legal: frozenset[str]
) -> None:
  bodies = [('the graph', graph_def.node)] + [
    (f'function {f.signature.name!r}', f.node_def)
    for f in graph_def.library.function
  ]
  for where, nodes in bodies:
    for node in nodes:
      if node.device and node.device not in legal:
        raise errors.PlacerError(
          f'Node {node.name!r} of {where} is on {node.device!r}; the '
          f'devices are {", ".join(sorted(legal))}.'
        )


def _check_colocation(nodes: Iterable[node_def_pb2.NodeDef]) -> None:
  devices = {node.name: node.device for node in nodes}
  for node in nodes:
    if '_class' not in node.attr:
      continue
    for entry in node.attr['_class'].list.s:
      label = entry.decode('utf-8', 'replace')
      if not label.startswith('loc:@'):
        continue
      with_name = label[len('loc:@') :]
      device = devices.get(with_name, node.device)
      if device and node.device and device != node.device:
        raise errors.PlacerError(
          f'Node {node.name!r} is on {node.device} but must be with '
          f'{with_name!r}, which is on {device}.'
        )
