"""Reads the profiles of PipeDream's profiler as CostGraphs of training steps.

    node5 -- Conv2d(64, 96, …) -- forward_compute_time=1.370,
      backward_compute_time=2.930, activation_size=60211200.0,
      parameter_size=221184.000                               (on one line)
        node5 -- node6                                        an edge

Times are ms, sizes bytes; an activation of several tensors, '[1.0; 2.0]', is
their sum. Each node becomes two ops, which share a device: the forward op
'node5' and, where anything takes backward time, 'node5/backward'. For an edge
a -> b, a's activation goes to b and is kept for b's backward op, and a gradient
of the same size goes from b's backward op to a's. Parameters are kept by the
forward op. The one time that was measured counts for accelerators and CPUs.
"""

import re

import numpy as np

from placer.core import errors
from placer.importers import cost_graph

KIND = 'pipedream'
_MS = 1e-3
_NODE = re.compile(
  r'^(?P<id>\S+) -- (?P<what>.*) -- (?P<figures>forward_compute_time=.*)$'
)
_EDGE = re.compile(r'^(?P<source>\S+) -- (?P<target>\S+)$')
_FIGURES = (
  'forward_compute_time',
  'backward_compute_time',
  'activation_size',
  'parameter_size',
)


def matches(text: str) -> bool:
  """Whether a file's text is meant to be such a profile."""
  return ' -- forward_compute_time=' in text[:4096].partition('\n')[0]


def load(text: str, source: str) -> cost_graph.CostGraph:
  """Reads a profile.

  Args:
    text: of the file.
    source: its path, for messages.

  Returns:
    The CostGraph, without own devices.

  Raises:
    GraphImportError: a line is neither node nor edge, an edge leads nowhere,
      or there is a cycle.
  """
  nodes: dict[str, tuple[str, tuple[float, ...]]] = {}
  edges: list[tuple[str, str]] = []
  for number, line in enumerate(text.splitlines(), 1):
    line = line.strip()
    where = f'{source!r}, line {number}'
    if node := _NODE.match(line):
      nodes[node['id']] = node['what'], _figures(node['figures'], where)
    elif edge := _EDGE.match(line):
      edges.append((edge['source'], edge['target']))
    elif line:
      raise errors.GraphImportError(
        f'{where}: {line[:60]!r} is neither "NODE -- what -- '
        'forward_compute_time=…, …" nor an edge "NODE -- NODE".'
      )
  index = {name: i for i, name in enumerate(nodes)}
  for pair in edges:
    if not set(pair) <= set(index):
      raise errors.GraphImportError(
        f'{source!r}: the edge {" -- ".join(pair)} leads to no node.'
      )
  numbers = list(dict.fromkeys((index[a], index[b]) for a, b in edges))
  order = cost_graph.topological_order(len(nodes), numbers, source)
  place = np.empty(len(order), int)
  place[order] = np.arange(len(order))
  pairs = sorted((int(place[a]), int(place[b])) for a, b in numbers)
  listed = list(nodes.items())
  return _make([listed[i] for i in order], pairs, source)


def _figures(text: str, where: str) -> tuple[float, ...]:
  found = []
  for key in _FIGURES:
    match = re.search(rf'\b{key}=(\[[^\]]*\]|[^,\s]+)', text)
    try:
      parts = match[1].strip('[]').split(';') if match else ['']
      value = sum(float(part) for part in parts)
      if not 0 <= value < float('inf'):
        raise ValueError
    except ValueError:
      raise errors.GraphImportError(
        f'{where}: {key} has to be a number of at least 0.'
      ) from None
    found.append(value)
  return tuple(found)


def _make(listed, pairs, source: str) -> cost_graph.CostGraph:
  """The CostGraph of nodes in topological order and their edges."""
  count = len(listed)
  figures = np.array([f for _, (_, f) in listed]).reshape(count, 4)
  seconds, activation = figures[:, :2] * _MS, np.rint(figures[:, 2])
  names = [name for name, _ in listed]
  types = [_type(what) for _, (what, _) in listed]
  tensors = [(i, int(activation[i])) for i in range(count)]
  edges = [(a, b, a) for a, b in pairs]
  persistent = np.rint(figures[:, 3]).astype(np.int64).tolist()
  times, colours = seconds[:, 0], np.arange(count, dtype=np.int32)
  if seconds[:, 1].any():
    # Backward ops in the opposite order behind all forward ops.
    last = 2 * count - 1
    names += [f'{name}/backward' for name in reversed(names)]
    types += [f'{kind}Grad' for kind in reversed(types)]
    persistent += [0] * count
    times = np.concatenate([times, seconds[::-1, 1]])
    colours = np.concatenate([colours, colours[::-1]])
    edges += [(a, last - b, a) for a, b in pairs]
    edges += [(i, last - i, -1) for i in range(count)]
    for a, b in sorted(pairs, key=lambda pair: -pair[1]):
      edges.append((last - b, last - a, len(tensors)))
      tensors.append((last - b, int(activation[a])))
  return cost_graph.CostGraph(
    source=source,
    kind=KIND,
    graph=cost_graph.make_graph(names, types, tensors, edges, persistent),
    accelerator_seconds=times,
    cpu_seconds=times,
    on_accelerator=np.ones(len(names), bool),
    colour=colours,
    notes=('The times of the profile are taken for every kind of device.',),
  )


def _type(what: str) -> str:
  """'Conv2d' of 'Conv2d(64, 96, kernel_size=(3, 3))'."""
  match = re.match(r'\w+', what)
  return match[0] if match else 'Node'
