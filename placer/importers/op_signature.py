"""Names, counts and types of a node's inputs and outputs, from its OpDef."""

from collections.abc import Iterator, Mapping, Sequence

from tensorflow.core.framework import attr_value_pb2
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import op_def_registry

Attrs = Mapping[str, attr_value_pb2.AttrValue]


def op_def(
  name: str, functions: Mapping[str, op_def_pb2.OpDef] | None = None
) -> op_def_pb2.OpDef | None:
  """The OpDef of an op type or library function, or None if there is none.

  Args:
    name: an op type.
    functions: signatures of the graph's own functions, by name.
  """
  if functions and name in functions:
    return functions[name]
  return op_def_registry.get(name)


def arg_types(
  args: Sequence[op_def_pb2.OpDef.ArgDef], attrs: Attrs
) -> Iterator[tuple[str, list[int]]]:
  """Yields each argument's name and the types of its tensors.

  Args:
    args: `input_arg` or `output_arg` of an OpDef.
    attrs: the attributes of the node.

  Yields:
    (argument name, [dtype enum of each tensor]); references keep their
    reference type (enum + 100).
  """
  for arg in args:
    if arg.type_list_attr:
      types = list(attrs[arg.type_list_attr].list.type)
    else:
      dtype = attrs[arg.type_attr].type if arg.type_attr else arg.type
      count = attrs[arg.number_attr].i if arg.number_attr else 1
      types = [dtype] * count
    if arg.is_ref:
      types = [dtype if dtype > 100 else dtype + 100 for dtype in types]
    yield arg.name, types


def with_defaults(
  node: node_def_pb2.NodeDef, definition: op_def_pb2.OpDef
) -> Attrs:
  """The node's attributes, with the OpDef's defaults for those it lacks."""
  missing = [
    attr
    for attr in definition.attr
    if attr.name not in node.attr and attr.HasField('default_value')
  ]
  if not missing:
    return node.attr
  attrs = dict(node.attr)
  attrs.update({attr.name: attr.default_value for attr in missing})
  return attrs


def output_types(
  node: node_def_pb2.NodeDef, definition: op_def_pb2.OpDef
) -> list[int]:
  """The dtype enum of each output tensor of a node."""
  attrs = with_defaults(node, definition)
  return [
    dtype
    for _, types in arg_types(definition.output_arg, attrs)
    for dtype in types
  ]
