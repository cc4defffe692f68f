"""What a placed function really runs where, from the executed partitions.

TensorFlow's optimiser removes and fuses ops, and moves those that must be with
a variable (DESIGN §3.2), so what was asked for is not what runs. Here a
function is run once, with its side effects, and TensorFlow hands out the
partitions it executed.

`ExecutedFunction`:
  outputs: what the function returned.
  requested: {op: full device name}, the ops of the placed graph, bodies
    included, by their op paths in the traced function.
  actual: {op: full device name} of those that are in the executed partitions.
  removed_ops: number of requested ops that are not.
  replaced_ops: {op path: op type} of those in whose place, under their name,
    TensorFlow's optimiser put an op of another type on another device (such as
    the Size of a tensor for the Prod of its Shape).
  moved_ops: op paths of those that ran elsewhere than requested.
  partitions: {full device name: number of ops that ran there}, with what
    TensorFlow added, such as sends and receives.
"""

import collections
import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.eager import context

from placer.core import errors
from placer.hooks import function_placer
from placer.hooks import placed_function
from placer.measurers import partitions as partitions_lib
from placer.rewriters import strip


@dataclasses.dataclass(frozen=True, eq=False)
class ExecutedFunction:
  """One run of a placed function; see the module docstring."""

  outputs: Any
  requested: Mapping[str, str]
  actual: Mapping[str, str]
  removed_ops: int
  replaced_ops: Mapping[str, str]
  moved_ops: tuple[str, ...]
  partitions: Mapping[str, int]

  def __str__(self) -> str:
    asked = collections.Counter(self.requested.values())
    ran = collections.Counter(self.actual.values())
    lines = [
      f'{device}: {asked[device]} ops asked for, {ran[device]} of them ran, '
      f'{self.partitions.get(device, 0)} ops in its partition'
      for device in sorted(asked.keys() | self.partitions.keys())
    ]
    lines.append(
      f'{self.removed_ops} ops were removed by TensorFlow, '
      f'{len(self.replaced_ops)} replaced elsewhere, {len(self.moved_ops)} '
      'moved.'
    )
    return '\n'.join(lines)


def run_and_read_back(
  function: placed_function.PlacedFunction, *args: Any, **kwargs: Any
) -> ExecutedFunction:
  """Runs a placed function once, and tells what ran where.

  Args:
    function: of `place_function`, `placed` or `apply_placement`.
    *args: as it is called with. Its side effects happen.
    **kwargs: as it is called with.

  Returns:
    The ExecutedFunction.

  Raises:
    UsageError: it is not a placed function.
  """
  state = getattr(function, 'placer_state', None)
  if state is None:
    raise errors.UsageError(
      f'{function!r:.80} is not a placed function. placer.place_function and '
      'placer.placed make one.'
    )
  function.get_concrete_function(*args, **kwargs)  # may search
  # TensorFlow collects the graphs of what it has not run before only.
  unused = function._clone(None)
  context.context().enable_graph_collection()
  try:
    outputs = unused(*args, **kwargs)
    collected = context.context().export_run_metadata()
  finally:
    context.context().disable_graph_collection()
  return _executed(state, outputs, collected)


def _executed(
  state: function_placer.FunctionPlacer,
  outputs: Any,
  collected: config_pb2.RunMetadata,
) -> ExecutedFunction:
  metadata = config_pb2.RunMetadata()
  for graphs in collected.function_graphs:
    metadata.partition_graphs.extend(graphs.partition_graphs)
  inlined, graph_def = state.last
  requested = strip.devices(graph_def)
  found = partitions_lib.read(metadata, requested, shared_allocator=True)
  replaced = _replaced(graph_def, metadata, found.moved_ops)
  path = inlined.program.path
  counts: collections.Counter[str] = collections.Counter()
  for graph in metadata.partition_graphs:
    counts.update(node.device for node in graph.node if node.device)
  return ExecutedFunction(
    outputs=outputs,
    requested={path(name): device for name, device in requested.items()},
    actual={
      path(name): device
      for name, device in found.actual_devices.items()
      if name not in replaced
    },
    removed_ops=found.removed_ops,
    replaced_ops={path(name): kind for name, kind in replaced.items()},
    moved_ops=tuple(
      path(name) for name in found.moved_ops if name not in replaced
    ),
    partitions=dict(counts),
  )


def _replaced(
  graph_def: graph_pb2.GraphDef,
  metadata: config_pb2.RunMetadata,
  moved: Collection[str],
) -> dict[str, str]:
  """{op that seems to have moved: the other type it has now}."""
  asked = {node.name: node.op for node in graph_def.node}
  ran = {
    partitions_lib.without_numbers(node.name): node.op
    for graph in metadata.partition_graphs
    for node in graph.node
  }
  return {
    name: ran[name]
    for name in moved
    if name in asked and name in ran and ran[name] != asked[name]
  }
