"""What a step is given: which tensors, and of what shape.

Unknown dimensions are resolved here, and each guess becomes a note: from
`--input_shapes`, else `--batch_size` (1 if not given) for a first dimension,
224 for the sides of an image, 1 for any other.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence

from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import tensor_shape_pb2
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import dtypes

from placer.core import errors
from placer.core import program as program_lib
from placer.importers import base
from placer.importers import fetches as fetches_lib
from placer.importers import graph_edges
from placer.importers import op_signature

_IMAGE_SIDE = 224
_MOST_ELEMENTS = 1 << 33


@dataclasses.dataclass(frozen=True)
class Cut:
  """A graph in which every feed is a Placeholder.

  Attributes:
    graph_def: the graph.
    feeds: name of the placeholder -> what the user calls it.
    made: names of placeholders that stand for another op.
  """

  graph_def: graph_pb2.GraphDef
  feeds: Mapping[str, str]
  made: frozenset[str]


def cut(graph_def: graph_pb2.GraphDef, feeds: Mapping[str, str]) -> Cut:
  """Puts a Placeholder in the place of each fed tensor.

  Args:
    graph_def: edited in place where a feed is not a placeholder.
    feeds: tensor ('x:0') -> what the user calls it.

  Returns:
    A Cut.
  """
  nodes = {node.name: node for node in graph_def.node}
  names: dict[str, str] = {}
  moved: dict[str, str] = {}
  made = set()
  for tensor, user_name in feeds.items():
    name, index = graph_edges.source_and_index(tensor)
    node = nodes[name]
    if node.op in fetches_lib.PLACEHOLDERS:
      names[name] = user_name
      continue
    types = op_signature.output_types(node, op_signature.op_def(node.op))
    if not 0 <= index < len(types):
      raise errors.UsageError(
        f'Feed {tensor!r}: {name!r} ({node.op}) has {len(types)} outputs.'
      )
    if len(types) == 1:
      shapes = node.attr['_output_shapes'].list.shape
      shape = shapes[0] if len(shapes) == 1 else None
      if 'shape' in node.attr and node.op == 'PlaceholderWithDefault':
        shape = node.attr['shape'].shape
      node.Clear()
      node.name = name
      placeholder = node
    else:
      shape = None
      placeholder = graph_def.node.add(name=f'{name}/placer_feed_{index}')
      moved[graph_edges.tensor(name, index)] = placeholder.name
    placeholder.op = 'Placeholder'
    placeholder.attr['dtype'].type = types[index]
    if shape is None:
      placeholder.attr['shape'].shape.unknown_rank = True
    else:
      placeholder.attr['shape'].shape.CopyFrom(shape)
    names[placeholder.name] = user_name
    made.add(placeholder.name)
  if moved:
    for node in graph_def.node:
      for i, edge in enumerate(node.input):
        if edge in moved:
          node.input[i] = moved[edge]
  return Cut(graph_def, names, frozenset(made))


def resolve_shapes(
  graph_def: graph_pb2.GraphDef,
  feeds: Mapping[str, str],
  options: base.ImportOptions,
  notes: list[str],
) -> tuple[program_lib.Feed, ...]:
  """Gives every feed's placeholder a full shape.

  Args:
    graph_def: the pruned graph; shapes are set in place.
    feeds: name of the placeholder -> what the user calls it.
    options: `input_shapes` and `batch_size`.
    notes: gets a sentence for each guess.

  Returns:
    The Feeds.

  Raises:
    UsageError: `--input_shapes` names no feed, or contradicts the graph.
    GraphImportError: a feed's type cannot be fed.
  """
  nodes = {node.name: node for node in graph_def.node}
  unknown = set(options.input_shapes)
  result = []
  for name, user_name in feeds.items():
    if name not in nodes:
      continue  # pruned: the fetches don't need it
    node = nodes[name]
    dtype = node.attr['dtype'].type
    keys = {user_name, name, f'{name}:0'} & options.input_shapes.keys()
    unknown -= keys
    declared = _dims(node.attr['shape'].shape)
    given = options.input_shapes[sorted(keys)[0]] if keys else None
    if dtype not in types_pb2.DataType.values() or not dtype:
      raise errors.GraphImportError(
        f'Feed {user_name!r} has no valid type (dtype={dtype}); the graph is '
        'damaged. Export it again.'
      )
    is_opaque = dtype in (types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT)
    if is_opaque:
      shape = ()
      # What such a tensor holds is not in the graph; importing still works.
      notes.append(
        f'Feed {user_name!r} is a {dtypes.as_dtype(dtype).name}: it can be '
        'inspected, but not measured.'
      )
    else:
      shape = _resolve(user_name, declared, given, options, notes)
      _check_size(user_name, shape)
      _set_shape(node.attr['shape'].shape, shape)
    result.append(
      program_lib.Feed(
        f'{name}:0', dtypes.as_dtype(dtype).name, shape, user_name
      )
    )
  if unknown:
    raise errors.UsageError(
      f'--input_shapes names {sorted(unknown)}, which are not fed. The feeds '
      f'are: {", ".join(feed.name for feed in result) or "none"}.'
    )
  return tuple(result)


def _dims(shape: tensor_shape_pb2.TensorShapeProto) -> Sequence[int] | None:
  return None if shape.unknown_rank else [dim.size for dim in shape.dim]


def _set_shape(
  proto: tensor_shape_pb2.TensorShapeProto, shape: Sequence[int]
) -> None:
  proto.Clear()
  for size in shape:
    proto.dim.add(size=size)


def _check_size(name: str, shape: Sequence[int]) -> None:
  if math.prod(shape) > _MOST_ELEMENTS:
    raise errors.UsageError(
      f'Feed {name!r} of shape {list(shape)} has {math.prod(shape):.3g} '
      f'elements; at most {_MOST_ELEMENTS:.3g} can be made. Give a smaller '
      '--batch_size or --input_shapes.'
    )


def _resolve(
  name: str,
  declared: Sequence[int] | None,
  given: Sequence[int] | None,
  options: base.ImportOptions,
  notes: list[str],
) -> tuple[int, ...]:
  if given is not None:
    fits = declared is None or (
      len(declared) == len(given)
      and all(d in (-1, g) or g == -1 for d, g in zip(declared, given))
    )
    if not fits:
      raise errors.UsageError(
        f'--input_shapes gives {name!r} the shape {list(given)}, but the '
        f'graph has {list(declared)} (-1 is free).'
      )
    dims = [
      d if g == -1 else g for d, g in zip(declared or [-1] * len(given), given)
    ]
  elif declared is None:
    notes.append(
      f'Feed {name!r} has no shape in the graph; a scalar is assumed '
      f'(--input_shapes={name}=2,3 says otherwise).'
    )
    return ()
  else:
    dims = list(declared)
  batch = 1 if options.batch_size is None else options.batch_size
  is_image = len(dims) in (3, 4) and dims[-1] in (1, 3, 4)
  sides = range(len(dims) - 3, len(dims) - 1) if is_image else ()
  resolved = tuple(
    size if size >= 0 else _IMAGE_SIDE if i in sides else batch if i == 0 else 1
    for i, size in enumerate(dims)
  )
  if list(resolved) != dims:
    notes.append(
      f'Feed {name!r} {_text(dims)} is taken as {_text(resolved)} '
      f'(--batch_size, --input_shapes={name}=... say otherwise).'
    )
  return resolved


def _text(shape: Sequence[int]) -> str:
  return '[' + ', '.join('?' if d < 0 else str(d) for d in shape) + ']'
