"""SavedModels of placed functions, and placed SavedModels."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.core import placement as placement_lib
from placer.importers import base as importers_base
from placer.rewriters import export
from placer.rewriters import strip
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()
normal = placed_pairs.normal

# Loads a SavedModel in a process of its own with as many logical devices.
_LOAD = """
import sys
import numpy as np
import tensorflow as tf
cpu = tf.config.list_physical_devices('CPU')[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
loaded = tf.saved_model.load(sys.argv[1])
x = tf.constant(np.load(sys.argv[2]))
np.savez(sys.argv[3], call=loaded.step(x),
         serve=loaded.signatures['serving_default'](x=x)['y'],
         w=loaded.w.numpy())
"""

# What `saved_model_cli show` does, for several folders.
_SHOW = """
import sys
from absl import flags
from tensorflow.python.tools import saved_model_cli
for folder in sys.argv[1:]:
  flags.FLAGS(['show', '--dir=' + folder, '--tag_set=serve',
               '--signature_def=serving_default'])
  saved_model_cli.show()
  print('----')
"""


class Model(tf.Module):
  """A variable, a vocabulary in a file, a loop and a nested function."""

  def __init__(self, vocabulary):
    super().__init__()
    self.w = tf.Variable(normal(4, 4) / 2)
    self.table = tf.lookup.StaticVocabularyTable(
      tf.lookup.TextFileInitializer(
        tf.saved_model.Asset(vocabulary),
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
      ),
      1,
    )
    self.inner = tf.function(lambda x: tf.tanh(tf.matmul(x, self.w)))

  def run(self, x):
    x = self.inner(x) + tf.sin(x)
    for _ in tf.range(2):
      x = tf.sigmoid(tf.matmul(x, self.w))
    word = self.table.lookup(tf.constant('two'))
    return self.inner(x) * tf.cast(word, tf.float32)


def devices_of(folder):
  meta_graph = importers_base.load(folder).original.meta_graphs[0]
  return strip.devices(meta_graph.graph_def)


class SavedModelTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    vocabulary = self.folder / 'words.txt'
    vocabulary.write_text('one\ntwo\n')
    self.model = Model(str(vocabulary))
    self.x = normal(2, 4, seed=3)
    self.spec = tf.TensorSpec([None, 4], tf.float32, 'x')

  def save(self, function, name):
    model = self.model
    model.step = function
    target = str(self.folder / name)
    tf.saved_model.save(
      model,
      target,
      signatures=tf.function(
        lambda x: {'y': function(x)}, input_signature=[self.spec]
      ),
    )
    return target

  def test_a_placed_function_is_saved_and_loaded(self):
    expected = tf.function(self.model.run)(self.x)
    unplaced = self.save(
      tf.function(self.model.run, input_signature=[self.spec]), 'unplaced'
    )
    placed = placed_pairs.place(
      tf.function(self.model.run, input_signature=[self.spec])
    )
    placed_pairs.assert_close(expected, placed(self.x))
    saved = self.save(placed, 'placed')

    devices = devices_of(saved)
    for i in range(logical_devices.COUNT):
      self.assertIn(logical_devices.name(i), devices.values())
    self.assertNotEmpty([path for path in devices if '@body/' in path])
    np.save(self.folder / 'x.npy', self.x)
    command = [saved, self.folder / 'x.npy', self.folder / 'out.npz']
    subprocess.run(
      [sys.executable, '-c', _LOAD, *map(str, command)],
      check=True,
      env=os.environ | {'TF_CPP_MIN_LOG_LEVEL': '3'},
    )
    out = np.load(self.folder / 'out.npz')
    for key in ('call', 'serve'):
      np.testing.assert_allclose(out[key], expected, rtol=1e-5)
    np.testing.assert_array_equal(out['w'], self.model.w)
    self.assert_same_signatures(unplaced, saved)

  def assert_same_signatures(self, *folders):
    """`saved_model_cli show` prints the same of both."""
    done = subprocess.run(
      [sys.executable, '-c', _SHOW, *map(str, folders)],
      check=True,
      capture_output=True,
      text=True,
      env=os.environ | {'TF_CPP_MIN_LOG_LEVEL': '3'},
    )
    one, other, _ = done.stdout.split('----\n')
    self.assertIn("inputs['x']", one)
    self.assertEqual(one, other)

  def test_a_function_of_a_loaded_model_is_placed(self):
    expected = tf.function(self.model.run)(self.x)
    folder = self.save(
      tf.function(self.model.run, input_signature=[self.spec]), 'plain'
    )
    loaded = tf.saved_model.load(folder)
    placed = placed_pairs.place(loaded.step, self.spec)
    placed_pairs.assert_close(expected, placed(self.x))
    placed_pairs.assert_as_requested(placed, self.x)
    signature = loaded.signatures['serving_default']
    placed = placed_pairs.place(signature, self.spec)
    placed_pairs.assert_close({'y': expected}, placed(self.x))

  def test_a_saved_model_is_placed_as_a_folder(self):
    """As `placer place --graph=FOLDER` writes it."""
    expected = tf.function(self.model.run)(self.x).numpy()
    folder = self.save(
      tf.function(self.model.run, input_signature=[self.spec]), 'plain'
    )
    imported = importers_base.load(folder)
    placement = placement_lib.Placement(
      {
        imported.program.path(node.name): logical_devices.name(i % 3)
        for i, node in enumerate(imported.graph_def.node)
        if node.op in ('Tanh', 'Sin', 'Mul', 'MatMul')
        and imported.program.path(node.name) not in imported.not_original
      }
    )
    self.assertNotEmpty(placement.devices)
    written = export.export(
      imported.original, placement.devices, folder, self.folder / 'target'
    )
    self.assertEqual(
      {p.name for p in (written / 'assets').iterdir()}, {'words.txt'}
    )
    # TensorFlow Serving's layout: a folder a version.
    served = self.folder / 'serving' / 'model' / '1'
    shutil.copytree(written, served)
    found = devices_of(str(served))
    for path, device in placement.devices.items():
      self.assertEqual(found[path], device)

    loaded = tf.saved_model.load(str(served))
    np.testing.assert_allclose(
      loaded.signatures['serving_default'](x=self.x)['y'], expected, rtol=1e-5
    )
    np.testing.assert_allclose(loaded.step(self.x), expected, rtol=1e-5)
    config = tf.compat.v1.ConfigProto(
      device_count={'CPU': 3}, allow_soft_placement=False
    )
    with tf.compat.v1.Session(graph=tf.Graph(), config=config) as session:
      meta_graph = tf.compat.v1.saved_model.load(
        session, ['serve'], str(served)
      )
      signature = meta_graph.signature_def['serving_default']
      found = session.run(
        signature.outputs['y'].name,
        {signature.inputs['x'].name: self.x.numpy()},
      )
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    self.assert_same_signatures(folder, written)


if __name__ == '__main__':
  absltest.main()
