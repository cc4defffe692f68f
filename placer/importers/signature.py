"""Chooses a signature of a MetaGraph: what is fed and what is fetched."""

from tensorflow.core.protobuf import meta_graph_pb2

from placer.core import errors

_DEFAULT = 'serving_default'
_INTERNAL = frozenset(('__saved_model_init_op', '__saved_model_train_op'))


def choose(
  meta_graph: meta_graph_pb2.MetaGraphDef, key: str
) -> tuple[dict[str, str], tuple[str, ...], str]:
  """The inputs and outputs of a signature.

  Args:
    meta_graph: a MetaGraphDef with signatures.
    key: the user's choice; '' for 'serving_default', else the first that has
      outputs.

  Returns:
    ({tensor: input name}, output tensors, a note that says which it is).

  Raises:
    UsageError: there is no such signature; with those there are.
  """
  keys = sorted(k for k in meta_graph.signature_def if k not in _INTERNAL)
  if key and key not in keys:
    raise errors.UsageError(
      f'--signature={key}: there is no such signature. There are: '
      f'{", ".join(keys) or "none"}.'
    )
  if not key:
    usable = [k for k in keys if meta_graph.signature_def[k].outputs]
    if not usable:
      return {}, (), 'No signature has outputs.'
    key = _DEFAULT if _DEFAULT in usable else usable[0]
  chosen = meta_graph.signature_def[key]
  feeds: dict[str, str] = {}
  for name, info in sorted(chosen.inputs.items()):
    for tensor in _tensors(info):
      feeds[tensor] = name if info.name else f'{name}/{tensor}'
  fetches = tuple(
    tensor
    for _, info in sorted(chosen.outputs.items())
    for tensor in _tensors(info)
  )
  others = [k for k in keys if k != key]
  note = f'Using signature {key!r}'
  if others:
    note += f' (--signature chooses another of: {", ".join(others)})'
  return feeds, fetches, note + '.'


def aliases(
  meta_graph: meta_graph_pb2.MetaGraphDef,
) -> dict[str, str]:
  """What the signatures call tensors: {name: tensor}.

  Args:
    meta_graph: a MetaGraphDef.

  Returns:
    Names of inputs and outputs of all signatures that are one tensor, those of
    the default signature first where several use a name.
  """
  found: dict[str, str] = {}
  keys = sorted(meta_graph.signature_def, key=lambda k: (k != _DEFAULT, k))
  for key in keys:
    signature = meta_graph.signature_def[key]
    for named in (signature.inputs, signature.outputs):
      for name, info in named.items():
        if info.name:
          found.setdefault(name, info.name)
  return found


def _tensors(info: meta_graph_pb2.TensorInfo) -> list[str]:
  """The dense tensors of an input or output: one, or a composite's parts."""
  kind = info.WhichOneof('encoding')
  if kind == 'coo_sparse':
    sparse = info.coo_sparse
    return [
      sparse.values_tensor_name,
      sparse.indices_tensor_name,
      sparse.dense_shape_tensor_name,
    ]
  if kind == 'composite_tensor':
    return [
      tensor
      for part in info.composite_tensor.components
      for tensor in _tensors(part)
    ]
  return [info.name] if info.name else []
