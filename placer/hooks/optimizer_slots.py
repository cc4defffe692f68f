"""Slots: what an optimizer keeps of each variable belongs beside it.

Momentum and the like are read and written with their variable in each step.
Fused update ops take all of them, so that TensorFlow keeps them together;
optimizers that are made of plain ops (Keras 3) leave that open, and a search
would waste trials on tearing them apart.

A slot of a trainable variable is, in a step's graph: not trainable, of the same
shape and type, written in the step, and its value flows into what is written to
that variable and to no other.
"""

from collections.abc import Mapping

import tensorflow as tf
from tensorflow.core.framework import graph_pb2

from placer.importers import graph_edges

_WRITES = frozenset((
  'AssignVariableOp', 'AssignAddVariableOp', 'AssignSubVariableOp',
))  # fmt: skip


def find(
  graph_def: graph_pb2.GraphDef, variables: Mapping[str, tf.Variable]
) -> dict[str, str]:
  """The slots of a step.

  Args:
    graph_def: the step, calls inlined.
    variables: {name of the node of a handle: the variable}.

  Returns:
    {handle of a slot: handle of its variable}.
  """
  inputs = {
    node.name: [graph_edges.source(e) for e in node.input if e[0] != '^']
    for node in graph_def.node
  }
  written: dict[str, list[str]] = {}
  for node in graph_def.node:
    if node.op in _WRITES and node.input[0] in variables:
      written.setdefault(node.input[0], []).append(inputs[node.name][1])
  owners: dict[str, list[str]] = {}
  for name, values in written.items():
    if variables[name].trainable:
      for slot in _needed(inputs, values) & written.keys():
        if _can_be_slot(variables[slot], variables[name]):
          owners.setdefault(slot, []).append(name)
  return {slot: found[0] for slot, found in owners.items() if len(found) == 1}


def _can_be_slot(slot: tf.Variable, variable: tf.Variable) -> bool:
  return (
    not slot.trainable
    and slot.shape.is_fully_defined()
    and slot.shape == variable.shape
    and slot.dtype == variable.dtype
    # A scalar variable would take every counter for a slot.
    and slot.shape.rank > 0
  )


def _needed(inputs: Mapping[str, list[str]], roots: list[str]) -> set[str]:
  """What flows into `roots`, control edges apart."""
  seen: set[str] = set()
  stack = list(roots)
  while stack:
    name = stack.pop()
    if name not in seen:
      seen.add(name)
      stack.extend(inputs.get(name, ()))
  return seen
