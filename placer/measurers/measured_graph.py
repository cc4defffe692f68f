"""MeasuredGraph: a Program as it is run, before anything is placed.

A measured step may not fold its inputs away, nor copy results to the client
(DESIGN §3.17). So in the measured graph

  - a feed `x` that is a Placeholder becomes a ReadVariableOp of that name; it
    reads `x/placer_feed`, a variable that is assigned once, before the first
    step, and then stays on the device;
  - of a feed `n:k` that is something else, the consumers read such a variable
    instead;
  - the nodes of the set-up graph are merged in; equal names are one node;
  - random ops without a seed get one from their name, so that all placements
    have equal values.

Fields:
  graph_def: without devices; only what the ops below need.
  fetch_ops: names of the ops that a step runs.
  setup_ops: names of the ops to run once, in this order.
  feeds: a `feed_variable.FeedVariable` for each feed of the program, in its
    order.
  anchors: {name of an added node: Anchor}.

All functions are pure, on protos.
"""

import dataclasses
import zlib
from collections.abc import Iterable, Mapping

from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import op_def_registry

from placer.core import program as program_lib
from placer.measurers import device_gaps
from placer.measurers import feed_variable
from placer.measurers import set_up_anchors
from placer.rewriters import annotate

Anchor = set_up_anchors.Anchor


@dataclasses.dataclass(frozen=True)
class MeasuredGraph:
  """A Program as it is run; see the module docstring."""

  graph_def: graph_pb2.GraphDef
  fetch_ops: tuple[str, ...]
  setup_ops: tuple[str, ...]
  feeds: tuple[feed_variable.FeedVariable, ...]
  anchors: Mapping[str, Anchor]


def build(program: program_lib.Program, *, seed: int) -> MeasuredGraph:
  """Makes the measured graph of a program.

  Args:
    program: what is measured.
    seed: makes the seeds of random ops.

  Returns:
    The measured graph.

  Raises:
    ValueError: a feed, a fetch or a set-up op is not in the graphs.
  """
  graph_def = graph_pb2.GraphDef.FromString(program.graph_def)
  anchors: dict[str, Anchor] = {}
  _merge_set_up(graph_def, program.setup_graph_def, anchors)
  feeds = tuple(
    feed_variable.add(graph_def, feed, anchors) for feed in program.feeds
  )
  fetch_ops = tuple(
    dict.fromkeys(fetch.partition(':')[0] for fetch in program.fetches)
  )
  roots = fetch_ops + program.setup_ops + tuple(f.assign for f in feeds)
  _prune(graph_def, roots)
  _seed(graph_def, seed)
  return MeasuredGraph(
    graph_def, fetch_ops, tuple(program.setup_ops), feeds, anchors
  )


def place(
  measured: MeasuredGraph, devices: Mapping[str, str], default: str
) -> graph_pb2.GraphDef:
  """A copy of the measured graph with a device on each node.

  Args:
    measured: what is placed.
    devices: working name -> full device name, of nodes in bodies too. Names
      that the measured graph does not have are left out.
    default: the device of nodes that are connected with nothing.

  Returns:
    The copy. Added nodes are where their anchor is; other nodes that
    `devices` leaves out are with their first consumer, else their first
    input.
  """
  graph_def = measured.graph_def
  names = {node.name for node in graph_def.node}
  placed = {
    name: device
    for name, device in devices.items()
    if name.partition('@')[0] in names
  }
  # The program's own nodes first: what is added follows them.
  device_gaps.fill(graph_def, placed, default, leave=measured.anchors)
  for name, anchor in measured.anchors.items():
    device = placed.get(anchor.name) or devices.get(anchor.name)
    if name in names and device and name not in placed:
      placed[name] = _host_of(device) if anchor.on_host else device
  device_gaps.fill(graph_def, placed, default)
  return annotate.annotate(graph_def, placed)


def with_variable_reads(
  measured: MeasuredGraph,
) -> tuple[MeasuredGraph, dict[str, str]]:
  """Adds an op that reads each variable of the program.

  Args:
    measured: not edited.

  Returns:
    The measured graph with reads, and {variable's name: tensor to fetch}.
  """
  graph_def = graph_pb2.GraphDef()
  graph_def.CopyFrom(measured.graph_def)
  anchors = dict(measured.anchors)
  reads: dict[str, str] = {}
  for node in measured.graph_def.node:
    if node.op in ('VariableV2', 'Variable'):
      reads[node.name] = f'{node.name}:0'
    elif node.op == 'VarHandleOp' and not node.name.endswith('/placer_feed'):
      read = f'{node.name}/placer_read'
      feed_variable.fill(
        graph_def.node.add(),
        read,
        'ReadVariableOp',
        [node.name],
        dtype=node.attr['dtype'].type,
      )
      anchors[read] = Anchor(node.name, on_host=False)
      reads[node.name] = f'{read}:0'
  return (
    dataclasses.replace(measured, graph_def=graph_def, anchors=anchors),
    reads,
  )


def _merge_set_up(
  graph_def: graph_pb2.GraphDef,
  setup_graph_def: bytes,
  anchors: dict[str, Anchor],
) -> None:
  if not setup_graph_def:
    return
  setup = graph_pb2.GraphDef.FromString(setup_graph_def)
  main_names = {node.name for node in graph_def.node}
  anchors.update(set_up_anchors.find(setup, main_names))
  graph_def.node.extend(n for n in setup.node if n.name not in main_names)
  functions = {f.signature.name for f in graph_def.library.function}
  graph_def.library.function.extend(
    f for f in setup.library.function if f.signature.name not in functions
  )


def _prune(graph_def: graph_pb2.GraphDef, roots: Iterable[str]) -> None:
  nodes = {node.name: node for node in graph_def.node}
  seen: set[str] = set()
  stack = list(roots)
  while stack:
    name = stack.pop()
    if name in seen:
      continue
    if name not in nodes:
      raise ValueError(f'Op {name!r} is not in the graph.')
    seen.add(name)
    stack.extend(set_up_anchors.source(edge) for edge in nodes[name].input)
  if len(seen) == len(nodes):
    return
  kept = [node for node in graph_def.node if node.name in seen]
  pruned = graph_pb2.GraphDef()
  pruned.node.extend(kept)
  del graph_def.node[:]
  graph_def.node.MergeFrom(pruned.node)


def _seed(graph_def: graph_pb2.GraphDef, seed: int) -> None:
  bodies = [('', graph_def.node)] + [
    (function.signature.name + '@', function.node_def)
    for function in graph_def.library.function
  ]
  for prefix, nodes in bodies:
    for node in nodes:
      if 'seed2' not in node.attr or 'seed' not in node.attr:
        continue
      if node.attr['seed'].i or node.attr['seed2'].i:
        continue
      op_def = op_def_registry.get(node.op)
      if op_def is not None and op_def.is_stateful:
        node.attr['seed'].i = seed + 1
        node.attr['seed2'].i = zlib.crc32((prefix + node.name).encode())


def _host_of(device: str) -> str:
  return device.rpartition('/device:')[0] + '/device:CPU:0'
