"""Which library functions a node names, and under which attribute.

A node names a function in an attribute of kind `func` (`f` of a
PartitionedCall, `body` and `cond` of a While), in a list of them (`branches`
of a Case), or by its op type (a legacy call). `Reference` gives each one a
label that is also the attribute part of an op path ('f', 'branches.1').
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from tensorflow.core.framework import node_def_pb2

# The label of a legacy call, where the op type is the function's name.
LEGACY = 'f'


class Reference(NamedTuple):
  """One function that a node names.

  Attributes:
    label: the attribute part of an op path, 'body', 'branches.1'.
    function: the function's name.
  """

  label: str
  function: str


def references(
  node: node_def_pb2.NodeDef, functions: Collection[str]
) -> Iterator[Reference]:
  """Yields the functions that `node` names.

  Args:
    node: a node of a graph or of a function body.
    functions: names of the library's functions.

  Yields:
    A Reference for each, attributes in the order of their names.
  """
  if node.op in functions:
    yield Reference(LEGACY, node.op)
  # Most nodes have only types and shapes: look at the kind, not the value.
  for name in sorted(node.attr):
    value = node.attr[name]
    kind = value.WhichOneof('value')
    if kind == 'func' and value.func.name in functions:
      yield Reference(name, value.func.name)
    elif kind == 'list' and value.list.func:
      for i, function in enumerate(value.list.func):
        if function.name in functions:
          yield Reference(f'{name}.{i}', function.name)


def redirect(node: node_def_pb2.NodeDef, label: str, function: str) -> None:
  """Makes `node` name another function; edits `node` in place.

  Args:
    node: a node that has a Reference with this label.
    label: the Reference's label.
    function: the name of the function to call instead.
  """
  name, _, index = label.partition('.')
  if index:
    node.attr[name].list.func[int(index)].name = function
  elif name in node.attr:
    node.attr[name].func.name = function
  else:
    node.op = function
