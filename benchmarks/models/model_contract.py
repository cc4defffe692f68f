"""Tests that every built-in model passes; a model's test mixes them in.

  class RnnlmTest(
    model_contract.InferenceContract,
    model_contract.TrainingContract,
    absltest.TestCase,
  ):
    batch_size = 3
    output_shapes = {'logits': (3, 4, 50)}

    @classmethod
    def make(cls, training):
      return rnnlm.build(SMALL, cls.batch_size, training)

`make` is called twice a mode, once a class. Tests of what is special to a
model find the graphs in `cls.inference` and `cls.training`.
"""

from collections.abc import Mapping

import numpy as np
import tensorflow as tf

_TRAINING_STEPS = 4


def random_feed(
  meta_graph_def: tf.compat.v1.MetaGraphDef,
) -> dict[str, np.ndarray]:
  """Returns values for a model's inputs, by tensor name: indices are 0 to 9."""
  generator = np.random.default_rng(0)
  feed = {}
  (signature,) = meta_graph_def.signature_def.values()
  for _, info in sorted(signature.inputs.items()):
    shape = [dim.size for dim in info.tensor_shape.dim]
    if tf.as_dtype(info.dtype).is_integer:
      feed[info.name] = generator.integers(0, 10, shape)
    else:
      feed[info.name] = generator.standard_normal(shape)
  return feed


def ancestors(meta_graph_def: tf.compat.v1.MetaGraphDef, name: str) -> set[str]:
  """Returns the names of the nodes that must run before a node does."""
  inputs = {
    node.name: [i.lstrip('^').split(':')[0] for i in node.input]
    for node in meta_graph_def.graph_def.node
  }
  found, pending = set(), list(inputs[name])
  while pending:
    node = pending.pop()
    if node not in found:
      found.add(node)
      pending += inputs[node]
  return found


class _GraphContract:
  """What holds in both modes."""

  batch_size: int
  output_shapes: Mapping[str, tuple[int, ...]]

  @classmethod
  def make(cls, training: bool) -> tf.compat.v1.MetaGraphDef:
    """Builds the model, in small where it can be."""
    raise NotImplementedError

  def check_graph(self, meta_graph_def: tf.compat.v1.MetaGraphDef):
    """Checks that the graph is flat, unplaced and of static shapes."""
    graph_def = meta_graph_def.graph_def
    self.assertEmpty(graph_def.library.function)
    ops = {node.op for node in graph_def.node}
    self.assertEmpty({op for op in ops if 'Call' in op or 'While' in op})
    self.assertEmpty([node.name for node in graph_def.node if node.device])
    attrs = {attr for node in graph_def.node for attr in node.attr}
    self.assertLessEqual({a for a in attrs if a.startswith('_')}, {'_class'})
    with tf.Graph().as_default() as graph:
      tf.import_graph_def(graph_def, name='')
    for op in graph.get_operations():
      for tensor in op.outputs:
        self.assertTrue(tensor.shape.is_fully_defined(), tensor)
    (signature,) = meta_graph_def.signature_def.values()
    for info in signature.inputs.values():
      tensor = graph.get_tensor_by_name(info.name)
      self.assertEqual(tensor.op.type, 'Placeholder')
      self.assertEqual(tensor.shape[0], self.batch_size)
      self.assertEqual(tensor.shape.as_proto(), info.tensor_shape)

  def check_same_again(self, meta_graph_def: tf.compat.v1.MetaGraphDef):
    """Checks that a second build gives the same bytes."""
    training = 'train' in meta_graph_def.signature_def
    again = type(self).make(training)
    self.assertTrue(
      meta_graph_def.SerializeToString(deterministic=True)
      == again.SerializeToString(deterministic=True),
      'Two builds of the model differ.',
    )


class InferenceContract(_GraphContract):
  """Tests of the forward pass.

  Attributes:
    frozen: Whether the weights are constants.
  """

  frozen = True

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.inference = cls.make(training=False)

  def test_inference_graph_is_flat_and_static(self):
    self.check_graph(self.inference)

  def test_inference_is_the_same_at_each_build(self):
    self.check_same_again(self.inference)

  def test_weights_are_constants_or_variables(self):
    ops = {node.op for node in self.inference.graph_def.node}
    if self.frozen:
      self.assertEmpty(self.inference.collection_def)
      self.assertEmpty({op for op in ops if 'Var' in op or 'Random' in op})
    else:
      self.assertIn('VarHandleOp', ops)
      self.assertIn('init_op', self.inference.collection_def)

  def test_inference_runs(self):
    signature = self.inference.signature_def['serving_default']
    outputs = {name: info.name for name, info in signature.outputs.items()}
    self.assertCountEqual(outputs, self.output_shapes)
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
      with session.graph.as_default():
        tf.import_graph_def(self.inference.graph_def, name='')
      if not self.frozen:
        session.run('init_op')
      values = session.run(outputs, random_feed(self.inference))
    for name, value in values.items():
      self.assertEqual(value.shape, self.output_shapes[name])
      self.assertTrue(np.isfinite(value).all())
      self.assertGreater(np.std(value), 0)


class TrainingContract(_GraphContract):
  """Tests of the training step."""

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.training = cls.make(training=True)

  def test_training_graph_is_flat_and_static(self):
    self.check_graph(self.training)

  def test_training_is_the_same_at_each_build(self):
    self.check_same_again(self.training)

  def test_every_variable_has_one_handle_and_one_initializer(self):
    nodes = {node.name: node for node in self.training.graph_def.node}
    with tf.Graph().as_default():
      tf.compat.v1.train.import_meta_graph(self.training)
      variables = tf.compat.v1.global_variables()
    handles = [v.handle.op.name for v in variables]
    self.assertCountEqual(
      handles, [n.name for n in nodes.values() if n.op == 'VarHandleOp']
    )
    init_op = nodes[self._op('init_op')]
    self.assertCountEqual(
      init_op.input, [f'^{v.initializer.name}' for v in variables]
    )
    for variable, handle in zip(variables, handles, strict=True):
      self.assertEqual(nodes[handle].attr['shared_name'].s.decode(), handle)
      self.assertEqual(variable.initializer.type, 'AssignVariableOp')
      self.assertEqual(nodes[variable.initializer.name].input[0], handle)

  def test_step_has_no_random_op(self):
    before = ancestors(self.training, self._op('train_op'))
    for node in self.training.graph_def.node:
      if node.name in before:
        self.assertNotIn('Random', node.op)

  def test_training_lowers_the_loss(self):
    losses = self._losses()
    self.assertTrue(np.isfinite(losses).all())
    self.assertLess(losses[-1], losses[0])

  def _losses(self) -> list[float]:
    """Returns the loss before each of some steps on the same feed."""
    loss = self.training.signature_def['train'].outputs['loss'].name
    feed = random_feed(self.training)
    losses = []
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
      with session.graph.as_default():
        tf.import_graph_def(self.training.graph_def, name='')
      session.run(self._op('init_op'))
      for _ in range(_TRAINING_STEPS):
        losses.append(session.run((loss, self._op('train_op')), feed)[0])
    return losses

  def _op(self, collection: str) -> str:
    """Returns the name of the one op in a collection."""
    (name,) = self.training.collection_def[collection].node_list.value
    return name
