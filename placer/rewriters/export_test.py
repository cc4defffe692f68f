import filecmp
import os
import pathlib

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from google.protobuf import text_format

from placer.core import errors
from placer.importers import base
from placer.rewriters import export
from placer.rewriters import strip
from placer.testing import graphs
from placer.testing import placements
from placer.testing import shared_inputs


def _devices(imported: base.ImportedGraph) -> dict[str, str]:
  """A random legal placement of every op on three devices."""
  return placements.random_devices(imported, 'CPU', 3)


class ExportTest(absltest.TestCase):
  def test_text_stays_text_and_old_names_come_back(self):
    graph_def = graphs.chain('square', 'exp')
    for node in graph_def.node:
      node.name = '_' + node.name
      node.device = '/device:GPU:7'
      for i, edge in enumerate(node.input):
        node.input[i] = '_' + edge
    source = self.create_tempfile(
      'graph.pb', content=text_format.MessageToString(graph_def)
    ).full_path
    imported = base.load(source)
    file = export.export(
      imported.original,
      _devices(imported),
      source,
      self.create_tempdir().full_path,
    )
    self.assertEqual(file.name, 'placed_graph.pbtxt')
    placed = text_format.Parse(file.read_text(), tf.compat.v1.GraphDef())
    self.assertEqual([n.name for n in placed.node], ['_x', '_square', '_exp'])
    self.assertEqual(
      {n.name: n.device for n in placed.node}, _devices(imported)
    )

  def test_a_function_with_jit_compile_is_un_jitted(self):
    @tf.function(
      jit_compile=True, input_signature=[tf.TensorSpec([2], tf.float32)]
    )
    def jitted(x):
      return tf.exp(x)

    graph_def = graphs.build(
      lambda: tf.identity(
        jitted(tf.compat.v1.placeholder(tf.float32, [2], 'x')), 'out'
      )
    )
    source = self.create_tempfile(
      content=graph_def.SerializeToString()
    ).full_path
    imported = base.load(source)
    file = export.export(
      imported.original,
      _devices(imported),
      source,
      self.create_tempdir().full_path,
    )
    placed = tf.compat.v1.GraphDef.FromString(file.read_bytes())
    self.assertFalse(any(n.attr['_XlaMustCompile'].b for n in placed.node))
    np.testing.assert_allclose(
      graphs.run(placed, ['out:0'], {'x:0': [0.0, 1.0]}, devices=3)[0],
      np.exp([0.0, 1.0]),
      rtol=1e-6,
    )

  def test_saved_models_keep_everything_but_devices(self):
    folder = shared_inputs.graphs()
    for name in (
      'saved_model_half_plus_two_cpu',
      'saved_model_half_plus_two_gpu',
      'saved_model_half_plus_two_pbtxt',
      'saved_model_half_plus_two_tf2_cpu',
    ):
      with self.subTest(name):
        source = folder / name
        imported = base.load(source)
        placed = export.export(
          imported.original,
          _devices(imported),
          source,
          self.create_tempdir().full_path,
        )
        again = base.load(placed)
        self.assertEqual(
          {
            path: device
            for path, device in again.original_devices.items()
            if path not in again.not_original
          },
          _devices(imported),
        )
        for part in ('variables', 'assets'):
          self.assertEmpty(
            filecmp.dircmp(source / part, placed / part).diff_files
            if (source / part).exists()
            else []
          )
        self._check_outputs(placed)

  def _check_outputs(self, folder: pathlib.Path) -> None:
    config = tf.compat.v1.ConfigProto(device_count={'CPU': 3})
    graph = tf.Graph()
    with tf.compat.v1.Session(graph=graph, config=config) as session:
      meta = tf.compat.v1.saved_model.load(session, ['serve'], str(folder))
      signature = meta.signature_def['serving_default']
      feed = signature.inputs['x'].name
      rank = graph.get_tensor_by_name(feed).shape.rank
      x = np.full((1,) * rank, 4.0, np.float32)
      y = session.run(signature.outputs['y'].name, {feed: x})
    np.testing.assert_allclose(y, x / 2 + 2)

  def test_a_folder_that_cannot_be_written(self):
    file = self.create_tempfile().full_path
    with self.assertRaisesRegex(errors.UsageError, '--output_dir'):
      export.export(graphs.chain('exp'), {}, file, os.path.join(file, 'below'))

  def test_only_devices_change(self):
    graph_def = graphs.functional_loop()
    source = self.create_tempfile(
      content=graph_def.SerializeToString()
    ).full_path
    imported = base.load(source)
    file = export.export(
      imported.original,
      _devices(imported),
      source,
      self.create_tempdir().full_path,
    )
    placed = tf.compat.v1.GraphDef.FromString(file.read_bytes())
    self.assertEqual(strip.strip(placed), strip.strip(graph_def))


if __name__ == '__main__':
  absltest.main()
