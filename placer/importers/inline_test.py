import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.core import errors
from placer.importers import inline
from placer.rewriters import strip
from placer.testing import graphs

_X = np.arange(16, dtype=np.float32).reshape(4, 4) / 20


class InlineTest(absltest.TestCase):
  def test_values_stay_and_calls_go(self):
    for make, size in (
      (graphs.functional_loop, 4),
      (graphs.shared_function, 2),
    ):
      graph_def = make()
      inlined = inline.inline(graph_def)
      self.assertEmpty(graphs.call_nodes(inlined.graph_def))
      feeds = {'x:0': _X[:size, :size]}
      np.testing.assert_allclose(
        graphs.run(inlined.graph_def, ['out:0'], feeds),
        graphs.run(graph_def, ['out:0'], feeds),
      )

  def test_each_copy_has_its_own_path(self):
    graph_def = graphs.shared_function()
    inlined = inline.inline(graph_def)
    paths = set(inlined.op_paths.values())
    for call in graphs.call_nodes(graph_def):
      self.assertIn(f'{call}@f/double', paths)

  def test_bodies_that_stay_have_one_caller_each(self):
    graph_def = graphs.shared_function()
    loop = graphs.functional_loop()
    inlined = inline.inline(loop).graph_def
    named = [
      value.func.name
      for body in [inlined.node]
      + [f.node_def for f in inlined.library.function]
      for node in body
      for value in node.attr.values()
      if value.WhichOneof('value') == 'func'
    ]
    self.assertLen(set(named), len(named))
    self.assertNotEmpty(named)
    self.assertEmpty(inline.inline(graph_def).graph_def.library.function)

  def test_side_effects_come_before_outputs(self):
    @tf.function(input_signature=[])
    def count():
      step.assign_add(1.0)
      return tf.constant(7.0)

    with tf.Graph().as_default() as graph:
      step = tf.compat.v1.get_variable(
        'step', initializer=0.0, use_resource=True
      )
      # Read after the call's output only: the call is not done before its
      # side effect is, so the reader has to see it.
      with tf.control_dependencies([tf.identity(count())]):
        tf.raw_ops.ReadVariableOp(
          resource=step.handle, dtype=tf.float32, name='after'
        )
    inlined = inline.inline(graph.as_graph_def())
    with tf.Graph().as_default() as graph:
      tf.graph_util.import_graph_def(inlined.graph_def, name='')
    with tf.compat.v1.Session(graph=graph) as session:
      session.run('step/Assign')
      self.assertEqual(
        [session.run('after:0') for _ in range(3)], [1.0, 2.0, 3.0]
      )

  def test_devices_of_bodies_and_of_callers(self):
    graph_def = graphs.pinned_body()
    call = graphs.call_nodes(graph_def)[0]
    for node in graph_def.node:
      if node.name == call:
        node.device = '/device:CPU:1'
    inlined = inline.inline(graph_def)
    devices = {
      inlined.op_paths.get(name, name): device
      for name, device in strip.devices(inlined.graph_def).items()
    }
    self.assertEqual(devices[f'{call}@f/exp'], '/device:GPU:3')
    self.assertIn('/device:CPU:1', devices.values())

  def test_jit_compiled_calls_are_said(self):
    @tf.function(
      jit_compile=True, input_signature=[tf.TensorSpec([2], tf.float32)]
    )
    def jitted(x):
      return tf.exp(x)

    graph_def = graphs.build(
      lambda: jitted(tf.compat.v1.placeholder(tf.float32, [2]))
    )
    self.assertRegex(' '.join(inline.inline(graph_def).notes), 'jit_compile')

  def test_missing_and_endless_functions(self):
    graph_def = graphs.shared_function()
    del graph_def.library.function[:]
    with self.assertRaisesRegex(errors.GraphImportError, 'not in the'):
      inline.inline(graph_def)
    graph_def = graphs.shared_function()
    function = graph_def.library.function[0]
    node = function.node_def.add(name='again', op='PartitionedCall')
    node.input.append('x')
    node.attr['f'].func.name = function.signature.name
    node.attr['Tin'].list.type.append(1)
    node.attr['Tout'].list.type.append(1)
    with self.assertRaisesRegex(errors.GraphImportError, 'without end'):
      inline.inline(graph_def)


if __name__ == '__main__':
  absltest.main()
