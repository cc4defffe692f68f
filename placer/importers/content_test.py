import gzip
import os

from absl.testing import absltest
from absl.testing import parameterized
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.core.protobuf import saved_model_pb2

from placer.core import errors
from placer.importers import content
from placer.testing import graphs


def _protos():
  graph_def = graphs.chain('square', 'exp')
  meta_graph = meta_graph_pb2.MetaGraphDef(graph_def=graph_def)
  meta_graph.meta_info_def.tags.append('serve')
  saved_model = saved_model_pb2.SavedModel(
    saved_model_schema_version=1, meta_graphs=[meta_graph]
  )
  return graph_def, meta_graph, saved_model


class ContentTest(parameterized.TestCase):
  @parameterized.product(index=(0, 1, 2), text=(False, True))
  def test_kind_is_told_by_content(self, index: int, text: bool):
    proto = _protos()[index]
    data = (
      text_format.MessageToString(proto).encode()
      if text
      else proto.SerializeToString()
    )
    # The suffix lies on purpose.
    path = self.create_tempfile('weights.h5', content=data).full_path
    self.assertEqual(content.read(path), proto)

  def test_a_meta_graph_without_meta_info(self):
    proto = meta_graph_pb2.MetaGraphDef(graph_def=graphs.chain('exp'))
    path = self.create_tempfile(content=proto.SerializeToString()).full_path
    self.assertIsInstance(content.read(path), meta_graph_pb2.MetaGraphDef)

  def test_text_with_comments_first(self):
    path = self.create_tempfile(
      content='# RUN: tool %s\n\n# CHECK: x\nnode { name: "a" op: "NoOp" }'
    ).full_path
    self.assertIsInstance(content.read(path), graph_pb2.GraphDef)

  @parameterized.parameters(
    (b'', 'empty file'),
    (b'\x89HDF\r\n\x1a\n' + bytes(9), 'HDF5.*model.export'),
    (b'PK\x03\x04' + bytes(9), 'zip archive'),
    (gzip.compress(b'x' * 99), 'gzip'),
    (b'\x1c\x00\x00\x00TFL3' + bytes(9), 'Lite'),
    (b'{"model": 1}', 'is text, but .* starts with'),
    (b'node { name: "a" op }', 'line 1'),
    (bytes(range(256)), 'does not parse'),
  )
  def test_what_is_no_graph_says_what_it_looks_like(self, data, message):
    path = self.create_tempfile(content=data).full_path
    with self.assertRaisesRegex(errors.GraphImportError, message) as caught:
      content.read(path)
    self.assertIn(os.path.basename(path), str(caught.exception))
    self.assertIn('SavedModel folder', str(caught.exception))

  def test_a_truncated_graph(self):
    data = graphs.chain('square', 'exp').SerializeToString()
    path = self.create_tempfile(content=data[:-40]).full_path
    with self.assertRaisesRegex(errors.GraphImportError, 'truncated'):
      content.read(path)


if __name__ == '__main__':
  absltest.main()
