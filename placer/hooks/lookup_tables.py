"""Lookup tables of this process, made again with the same entries in a graph.

A traced function holds the handle of a table, which no other process can read.
"""

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.framework import node_def_pb2

from placer.importers import setup_ops

_WRITES = frozenset((
  'LookupTableImportV2', 'LookupTableInsertV2', 'LookupTableRemoveV2',
))  # fmt: skip


def replace(
  graph_def: graph_pb2.GraphDef,
  node: node_def_pb2.NodeDef,
  handle: tf.Tensor,
) -> bool:
  """Makes a placeholder a table, and adds an op that fills it.

  Args:
    graph_def: the graph; edited in place.
    node: the placeholder of the table's handle.
    handle: the handle in this process.

  Returns:
    False if the handle is not that of a table; then nothing was edited.
  """
  if not hasattr(handle, 'numpy'):
    return False  # symbolic: nothing can be read from it now
  bodies = [graph_def.node] + [f.node_def for f in graph_def.library.function]
  readers = [
    reader
    for nodes in bodies
    for reader in nodes
    if reader.op.startswith('LookupTable') and 'Tin' in reader.attr
  ]
  kinds = {(r.attr['Tin'].type, r.attr['Tout'].type) for r in readers}
  for key_type, value_type in sorted(kinds):
    try:
      entries = tf.raw_ops.LookupTableExportV2(
        table_handle=handle, Tkeys=key_type, Tvalues=value_type
      )
    except tf.errors.OpError:
      continue  # a table of other types, or no table
    is_mutable = any(reader.op in _WRITES for reader in readers)
    _make(
      graph_def,
      node,
      (key_type, entries.keys.numpy()),
      (value_type, entries.values.numpy()),
      is_mutable,
    )
    return True
  return False


def _make(
  graph_def: graph_pb2.GraphDef,
  node: node_def_pb2.NodeDef,
  keys: tuple[int, np.ndarray],
  values: tuple[int, np.ndarray],
  is_mutable: bool,
) -> None:
  name = node.name
  node.Clear()
  node.name = name
  node.op = 'MutableHashTableV2' if is_mutable else 'HashTableV2'
  node.attr['key_dtype'].type = keys[0]
  node.attr['value_dtype'].type = values[0]
  node.attr['shared_name'].s = name.encode()
  prefix = setup_ops.PREFIX + name
  fill = graph_def.node.add(
    name=prefix + '/fill',
    op='LookupTableImportV2' if is_mutable else 'InitializeTableV2',
  )
  fill.input.append(name)
  labels = ('Tin', 'Tout') if is_mutable else ('Tkey', 'Tval')
  for part, label, (dtype, array) in zip(
    ('keys', 'values'), labels, (keys, values), strict=True
  ):
    constant = graph_def.node.add(name=f'{prefix}/{part}', op='Const')
    constant.attr['dtype'].type = dtype
    constant.attr['value'].tensor.CopyFrom(
      tf.make_tensor_proto(array, dtype=dtype, shape=array.shape)
    )
    fill.input.append(constant.name)
    fill.attr[label].type = dtype
