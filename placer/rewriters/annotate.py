"""Writes a placement into a GraphDef, function bodies too.

Devices live in function bodies as well as in the main graph (DESIGN §3.4).
Two callers may share one function and yet want its ops on different devices;
then the function is copied for the second caller, and only then.
"""

import copy
import json
from collections.abc import Mapping
from typing import Any

from tensorflow.core.framework import function_pb2
from tensorflow.core.framework import graph_pb2

from placer.core import op_path
from placer.rewriters import function_refs

# A tree of devices: {'': {node name: device}, (node, label): subtree}.
_Tree = dict[Any, Any]


def annotate(
  graph_def: graph_pb2.GraphDef, devices: Mapping[str, str]
) -> graph_pb2.GraphDef:
  """Returns a copy of `graph_def` with devices set.

  Args:
    graph_def: any GraphDef; it is not edited.
    devices: op path relative to `graph_def` -> device name. Ops that are not
      named keep the device they have.

  Returns:
    The copy. Functions whose callers need different devices were copied under
    new names ('body_1_placer_1').

  Raises:
    KeyError: an op path names no op of the graph.
  """
  result = graph_pb2.GraphDef()
  result.CopyFrom(graph_def)
  tree = _tree(devices)
  library = _Library(result.library)
  _set_devices(result.node, tree, library, where='the graph')
  if result.library.function:
    _keep_others(result.node, tree, library, set())
  return result


def _tree(devices: Mapping[str, str]) -> _Tree:
  root: _Tree = {'': {}}
  for path, device in devices.items():
    if '@' not in path:
      root[''][path] = device
      continue
    hops, name = op_path.split(path)
    level = root
    for hop in hops:
      level = level.setdefault(hop, {'': {}})
    level[''][name] = device
  return root


class _Library:
  """A FunctionDefLibrary in which each function holds one set of devices."""

  def __init__(self, library: function_pb2.FunctionDefLibrary) -> None:
    self._library = library
    self.functions = {f.signature.name: f for f in library.function}
    self._pristine: dict[str, function_pb2.FunctionDef] = {}
    self._claims: dict[str, str] = {}

  def placed(self, function: str, tree: _Tree) -> str:
    """The name of a function like `function` with the devices of `tree`."""
    claim = json.dumps(sorted(_flat(tree)))
    name, number = function, 0
    while self._claims.get(name, claim) != claim:
      number += 1
      name = f'{function}_placer_{number}'
    if name in self._claims:
      return name
    if name == function:
      self._pristine[function] = copy.deepcopy(self.functions[function])
    else:
      self._copy(function, name)
    self._claims[name] = claim
    _set_devices(
      self.functions[name].node_def, tree, self, where=f'function {name!r}'
    )
    return name

  def _copy(self, function: str, name: str) -> None:
    added = self._library.function.add()
    added.CopyFrom(self._pristine[function])
    added.signature.name = name
    self.functions[name] = added
    for gradient in list(self._library.gradient):
      if gradient.function_name == function:
        self._library.gradient.add(
          function_name=name, gradient_func=gradient.gradient_func
        )


def _flat(tree: _Tree, prefix: str = '') -> list[tuple[str, str]]:
  items = [(prefix + name, device) for name, device in tree[''].items()]
  for hop, subtree in tree.items():
    if hop:
      items.extend(_flat(subtree, op_path.enter(prefix + hop[0], hop[1])))
  return items


def _keep_others(
  nodes: Any, tree: _Tree, library: _Library, done: set[str]
) -> None:
  """Callers that were not named don't get the devices of those that were."""
  for node in nodes:
    for label, function in list(
      function_refs.references(node, library.functions)
    ):
      subtree = tree.get((node.name, label))
      if subtree is None:
        subtree = {'': {}}
        kept = library.placed(function, subtree)
        if kept != function:
          function_refs.redirect(node, label, kept)
          function = kept
      if function not in done:
        done.add(function)
        _keep_others(
          library.functions[function].node_def, subtree, library, done
        )


def _set_devices(
  nodes: Any, tree: _Tree, library: _Library, where: str
) -> None:
  wanted, bodies = tree[''], {}
  for hop in tree:
    if hop:
      bodies.setdefault(hop[0], []).append(hop[1])
  missing = set(wanted) | set(bodies)
  for node in nodes:
    name = node.name
    missing.discard(name)
    device = wanted.get(name)
    if device is not None:
      node.device = device
    if name in bodies:
      known = dict(function_refs.references(node, library.functions))
      for label in bodies[name]:
        if label not in known:
          raise KeyError(f'Node {name!r} of {where} has no function {label!r}.')
        placed = library.placed(known[label], tree[name, label])
        if placed != known[label]:
          function_refs.redirect(node, label, placed)
  if missing:
    some = ', '.join(sorted(missing)[:5])
    raise KeyError(f'{len(missing)} ops are not in {where}: {some} ...')
