"""What `load` gives for whole files, made here and real ones."""

import os

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import errors
from placer.importers import base
from placer.testing import graphs
from placer.testing import shared_inputs

# File -> (kind, fetches of a step, ops of its main graph); of those that are
# refused, the reason.
_ACCEPTED = {
  'mtcnn.pb': ('graph_def', 3, 894),
  'resnet50_4gpu_replicated.pb': ('graph_def', 1, 6211),
  'taxi_estimator_train.meta': ('meta_graph', 2, None),
  'text_meta_graph.pb': ('meta_graph', 6, 30),
  'unrolled_lstm.pb': ('graph_def', 1, 529),
  'saved_model_half_plus_two_cpu': ('saved_model', 1, 8),
  'saved_model_half_plus_two_gpu': ('saved_model', 1, 7),
  'saved_model_half_plus_two_pbtxt': ('saved_model', 1, 7),
  'saved_model_half_plus_two_tf2_cpu': ('saved_model', 1, None),
}
_REFUSED = {
  'README.md': 'is text, but not a text proto',
  'grappler': 'is a folder, but not a SavedModel',
  'graphdef2mlir': 'is a folder, but not a SavedModel',
  # Invalid on purpose; tf.import_graph_def says the same.
  'grappler/function_error.pbtxt': 'cycle',
  'grappler/while_loop_var_handle_op.pbtxt': 'incompatible with expected',
}


class SharedGraphsTest(absltest.TestCase):
  def test_every_top_level_entry(self):
    folder = shared_inputs.graphs()
    names = {p.name for p in folder.iterdir()}
    self.assertEqual(
      names, _ACCEPTED.keys() | {n for n in _REFUSED if '/' not in n}
    )
    for name in sorted(names):
      with self.subTest(name):
        if name in _REFUSED:
          with self.assertRaisesRegex(errors.GraphImportError, _REFUSED[name]):
            base.load(folder / name)
          continue
        kind, fetches, ops = _ACCEPTED[name]
        imported = base.load(folder / name)
        self.assertEqual(imported.kind, kind)
        self.assertLen(imported.program.fetches, fetches)
        if ops:
          self.assertLen(imported.graph_def.node, ops)

  def test_every_small_text_graph(self):
    folder = shared_inputs.graphs()
    files = sorted(folder.glob('gr*/*.pbtxt'))
    self.assertGreater(len(files), 30)
    for file in files:
      name = str(file.relative_to(folder))
      with self.subTest(name):
        if name in _REFUSED:
          with self.assertRaisesRegex(errors.GraphImportError, _REFUSED[name]):
            base.load(file)
        else:
          imported = base.load(file)
          self.assertNotEmpty(imported.graph_def.node)
          self.assertEmpty([n for n in imported.graph_def.node if n.device])


class OptionsTest(parameterized.TestCase):
  def _load(self, graph_def, **options):
    path = self.create_tempfile(content=graph_def.SerializeToString())
    return base.load(path.full_path, base.ImportOptions(**options))

  def test_pruned_to_the_fetches_before_anything(self):
    graph_def = graphs.chain('square', 'exp')
    bad = graph_def.node.add(name='bad', op='TPUReplicatedInput')
    bad.input.append('x')
    bad.attr['T'].type = 1
    bad.attr['N'].i = 1
    imported = self._load(graph_def, fetches=('exp:0',))
    self.assertNotIn('bad', [n.name for n in imported.graph_def.node])

  def test_sinks_are_fetched_and_said(self):
    imported = self._load(graphs.chain('square', 'exp'))
    self.assertEqual(imported.program.fetches, ('exp',))
    self.assertRegex(' '.join(imported.notes), 'Fetching what nothing reads')

  def test_the_optimiser_is_fetched(self):
    imported = self._load(graphs.training())
    self.assertEqual(imported.program.fetches, ('train',))
    # Each variable of the step is initialised by the graph's own op.
    handles = {n.name for n in imported.graph_def.node if n.op == 'VarHandleOp'}
    self.assertLen(imported.program.setup_ops, len(handles))
    self.assertContainsSubset(
      {'dense/weight/Assign'}, imported.program.setup_ops
    )

  def test_iterators_and_tables_are_initialised_once(self):
    def make():
      dataset = tf.data.Dataset.range(9).batch(4).repeat()
      iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
      tf.identity(iterator.get_next() * 3, name='y')
      table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2]), 0
      )
      tf.identity(table.lookup(tf.constant(['b'])), name='z')

    imported = self._load(graphs.build(make))
    self.assertEqual(imported.program.fetches, ('y', 'z'))
    setup = tf.compat.v1.GraphDef.FromString(imported.program.setup_graph_def)
    kinds = {n.name: n.op for n in setup.node}
    self.assertCountEqual(
      [kinds[op] for op in imported.program.setup_ops],
      ['MakeIterator', 'LookupTableImportV2'],
    )

  @parameterized.parameters('exp:1', 'exp:x', 'exp:-1', '^exp')
  def test_outputs_that_are_not_there(self, fetch: str):
    with self.assertRaisesRegex(errors.UsageError, '--fetches'):
      self._load(graphs.chain('exp'), fetches=(fetch,))

  def test_unknown_names_get_close_ones(self):
    with self.assertRaisesRegex(errors.UsageError, '--fetches.*square'):
      self._load(graphs.chain('square'), fetches=('sqare:0',))
    with self.assertRaisesRegex(errors.UsageError, '--feeds'):
      self._load(graphs.chain('square'), feeds=('y:0',))

  def test_batch_size_and_shapes(self):
    def make():
      x = tf.compat.v1.placeholder(tf.float32, [None, None], name='x')
      tf.exp(x, name='y')

    graph_def = graphs.build(make)
    for options, shape in (
      ({}, (1, 1)),
      ({'batch_size': 5}, (5, 1)),
      ({'input_shapes': {'x': (2, 3)}}, (2, 3)),
      ({'input_shapes': {'x:0': (-1, 3)}, 'batch_size': 4}, (4, 3)),
    ):
      imported = self._load(graph_def, **options)
      self.assertEqual(imported.program.feeds[0].shape, shape)
      self.assertEqual(imported.outputs['y'][0][1], shape)
    with self.assertRaisesRegex(errors.UsageError, 'feeds are: x'):
      self._load(graph_def, input_shapes={'z': (1,)})
    with self.assertRaisesRegex(errors.UsageError, r'\[1, 2, 3\]'):
      self._load(graph_def, input_shapes={'x': (1, 2, 3)})

  def test_feeding_an_inner_tensor_cuts_the_graph_there(self):
    imported = self._load(graphs.chain('square', 'exp'), feeds=('square:0',))
    ops = {n.name: n.op for n in imported.graph_def.node}
    self.assertEqual(ops, {'square': 'Placeholder', 'exp': 'Exp'})
    self.assertEqual(imported.not_original, {'square'})

  def test_devices_are_stripped_everywhere_and_remembered(self):
    imported = self._load(graphs.pinned_body())
    self.assertIn('/device:GPU:3', imported.original_devices.values())
    for node in imported.graph_def.node:
      self.assertEqual(node.device, '')

  def test_a_v1_loop_is_imported(self):
    imported = self._load(graphs.v1_loop())
    self.assertIn('NextIteration', {n.op for n in imported.graph_def.node})

  def test_bodies_get_shapes(self):
    imported = self._load(graphs.functional_loop())
    shapes = {
      name: outputs[0][1]
      for name, outputs in imported.outputs.items()
      if name.endswith('body/step')
    }
    self.assertEqual(list(shapes.values()), [(4, 4)])

  def test_missing_path(self):
    with self.assertRaisesRegex(errors.GraphImportError, 'does not exist'):
      base.load('/nowhere/model.pb')


class SavedModelTest(absltest.TestCase):
  def _save(self) -> str:
    class Module(tf.Module):
      def __init__(self):
        super().__init__()
        self.weight = tf.Variable([[2.0, 0.0], [0.0, 3.0]])

      @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
      def __call__(self, x):
        return {'out': tf.matmul(x, self.weight, name='product')}

    folder = os.path.join(self.create_tempdir().full_path, 'model')
    module = Module()
    tf.saved_model.save(module, folder, signatures=module.__call__)
    return folder

  def test_tf2(self):
    imported = base.load(self._save())
    self.assertEqual([f.name for f in imported.program.feeds], ['x'])
    self.assertLen(imported.program.setup_ops, 1)
    paths = [imported.program.path(n.name) for n in imported.graph_def.node]
    self.assertTrue(any(p.endswith('@f/product') for p in paths), paths)

  def test_names_of_the_signature_are_names_of_tensors(self):
    folder = self._save()
    imported = base.load(
      folder, base.ImportOptions(feeds=('x',), fetches=('out',))
    )
    self.assertEqual([f.name for f in imported.program.feeds], ['x'])
    self.assertEqual(
      imported.program.fetches, base.load(folder).program.fetches
    )

  def test_tables_in_functions_are_initialised(self):
    file = self.create_tempfile(content='a\nb\n').full_path

    class Module(tf.Module):
      def __init__(self):
        super().__init__()
        self.table = tf.lookup.StaticVocabularyTable(
          tf.lookup.TextFileInitializer(
            file,
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
          ),
          1,
        )

      @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
      def __call__(self, x):
        return self.table.lookup(x)

    folder = os.path.join(self.create_tempdir().full_path, 'model')
    module = Module()
    tf.saved_model.save(module, folder, signatures=module.__call__)
    self.assertLen(base.load(folder).program.setup_ops, 1)

  def test_wrong_signature_and_tags_name_the_choices(self):
    folder = self._save()
    with self.assertRaisesRegex(errors.UsageError, 'serving_default'):
      base.load(folder, base.ImportOptions(signature='nope'))
    with self.assertRaisesRegex(errors.UsageError, 'serve'):
      base.load(folder, base.ImportOptions(tags=('train',)))

  def test_the_proto_file_points_to_the_folder(self):
    folder = self._save()
    with self.assertRaisesRegex(errors.GraphImportError, 'Pass the folder'):
      base.load(os.path.join(folder, 'saved_model.pb'))

  def test_restored_values_are_in_the_set_up_graph(self):
    program = base.load(self._save()).program
    graph = tf.Graph()
    with graph.as_default():
      tf.graph_util.import_graph_def(
        tf.compat.v1.GraphDef.FromString(program.setup_graph_def), name=''
      )
    with tf.compat.v1.Session(graph=graph) as session:
      for op in program.setup_ops:
        session.run(op)
      handle = next(
        op for op in graph.get_operations() if op.type == 'VarHandleOp'
      )
      with graph.as_default():
        value = tf.raw_ops.ReadVariableOp(
          resource=handle.outputs[0], dtype=tf.float32
        )
      np.testing.assert_array_equal(session.run(value), [[2, 0], [0, 3]])


if __name__ == '__main__':
  absltest.main()
