import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import op_def_registry

from placer.core import errors
from placer.core import program
from placer.measurers import side_effects
from placer.measurers import toy_programs


def _reading() -> graph_pb2.GraphDef:
  graph = tf.Graph()
  with graph.as_default():
    path = tf.constant('/etc/hostname', name='path')
    text = tf.io.read_file(path, name='text')
    traced = tf.function(
      lambda: tf.cond(
        tf.size(tf.io.matching_files('/*')) > 0,
        lambda: tf.print('inside'),
        lambda: tf.raw_ops.PrintV2(input='x', output_stream='file:///x'),
      )
    )
    with tf.control_dependencies([traced.get_concrete_function()()]):
      tf.identity(text, name='out')
  return graph.as_graph_def()


class SideEffectsTest(parameterized.TestCase):
  def test_finds_them_in_bodies_too(self):
    found = side_effects.side_effects(_reading())
    kinds = sorted(kind for _, kind in found)
    self.assertEqual(kinds, ['MatchingFiles', 'PrintV2', 'ReadFile'])
    self.assertIn(('text', 'ReadFile'), found)
    (inner,) = [path for path, kind in found if kind == 'MatchingFiles']
    self.assertIn('@f/', inner)

  def test_ordinary_graphs_have_none(self):
    for toy in (toy_programs.training(), toy_programs.loop()):
      self.assertEmpty(side_effects.side_effects(toy.graph_def))

  @parameterized.parameters(
    'PyFunc', 'EagerPyFunc', 'SaveV2', 'RestoreV2', 'TFRecordDataset',
    'WriteSummary', 'RpcServer', 'DebugIdentity', 'MergeV2Checkpoints',
    'CacheDatasetV2', 'TextLineReaderV2', 'CreateSummaryFileWriter',
  )  # fmt: skip
  def test_kinds(self, kind):
    graph_def = graph_pb2.GraphDef()
    graph_def.node.add(name='n', op=kind)
    self.assertEqual(side_effects.side_effects(graph_def), (('n', kind),))

  def test_every_name_is_in_the_registry(self):
    unknown = [
      kind
      for kind in side_effects.OP_TYPES
      if op_def_registry.get(kind) is None
    ]
    self.assertEmpty(unknown)

  def test_refuses_with_names_and_cure(self):
    graph_def = _reading()
    with self.assertRaisesRegex(
      errors.UsageError, "'text'.*--allow_side_effects=.*ReadFile"
    ):
      side_effects.refuse([graph_def], [])
    with self.assertRaisesRegex(errors.UsageError, '1 ops'):
      side_effects.refuse([graph_def], ['MatchingFiles', 'PrintV2'])
    side_effects.refuse([graph_def], ['MatchingFiles', 'PrintV2', 'text'])
    side_effects.refuse([graph_def], ['*'])

  def test_set_up_may_read_the_files_that_the_user_gave(self):
    graph_def = graph_pb2.GraphDef()
    graph_def.node.add(name='restore', op='RestoreV2')
    data = graph_def.SerializeToString()
    side_effects.refuse_program(program.Program(b'', data), [])
    with self.assertRaisesRegex(errors.UsageError, 'RestoreV2'):
      side_effects.refuse_program(program.Program(data), [])
    side_effects.refuse_program(program.Program(data), ['*'])

  def test_what_placer_added_itself_is_fine(self):
    graph_def = graph_pb2.GraphDef()
    graph_def.node.add(name='placer_setup/restore', op='RestoreV2')
    side_effects.refuse([graph_def], [])


if __name__ == '__main__':
  absltest.main()
