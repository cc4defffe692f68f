"""Gradients through a placed function: values, and where backward ops are."""

import tensorflow as tf
from absl.testing import absltest
from tensorflow.python.eager import context

import placer
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()
normal = placed_pairs.normal


def make():
  """A function with a loop, a branch, a call, and variables used twice."""
  w = tf.Variable(normal(4, 4) / 2)
  b = tf.Variable(normal(4, seed=1))

  @tf.function
  def layer(x):
    return tf.tanh(tf.matmul(x, w) + b)

  def function(x, scale):
    x = layer(layer(x)) * scale
    if tf.reduce_sum(x) > 0:
      x = tf.sin(x) * tf.reduce_sum(w)
    else:
      x = tf.square(x) - b
    for _ in tf.range(3):
      x = tf.sigmoid(tf.matmul(x, w))
    return {'x': x, 'n': tf.constant(3)}

  return function, w, b


def gradient(function, variables, x, scale):
  with tf.GradientTape() as tape:
    tape.watch(x)
    loss = tf.reduce_sum(function(x, scale)['x'] ** 2)
  return tape.gradient(loss, [x, *variables])


def second(function, variables, x, scale):
  with tf.GradientTape() as tape:
    first = gradient(function, variables, x, scale)
    loss = tf.add_n([tf.reduce_sum(g**2) for g in first])
  return tape.gradient(loss, variables)


class GradientsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    function, *variables = make()
    self.function = tf.function(function)
    self.variables = variables
    self.x, self.scale = normal(2, 4, seed=2), tf.constant(2.0)
    self.placement = logical_devices.spread(function, self.x, self.scale)
    self.placed = placer.apply_placement(function, self.placement)

  def test_first_and_second_derivatives(self):
    for derive in (gradient, second):
      placed_pairs.assert_close(
        derive(self.function, self.variables, self.x, self.scale),
        derive(self.placed, self.variables, self.x, self.scale),
      )

  def test_within_another_function(self):
    step = tf.function(lambda x: gradient(self.placed, self.variables, x, 2.0))
    placed_pairs.assert_close(
      gradient(self.function, self.variables, self.x, 2.0), step(self.x)
    )

  def test_gradients_of_what_it_does_not_depend_on(self):
    for function in (self.function, self.placed):
      with tf.GradientTape() as tape:
        y = function(self.x, self.scale)['x']
      self.assertIsNone(tape.gradient(y, tf.Variable(1.0)))

  def test_custom_gradients(self):
    @tf.custom_gradient
    def clipped(x):
      return x * 3.0, lambda dy: tf.clip_by_value(dy, -0.1, 0.1)

    def function(x):
      return {'x': clipped(tf.sin(x)) + tf.cos(x)}

    x = normal(3)
    placed = placer.apply_placement(
      function, logical_devices.spread(function, x)
    )
    both = [
      gradient(lambda x, _, f=f: f(x), [], x, None)
      for f in (tf.function(function), placed)
    ]
    placed_pairs.assert_close(*both)

  def test_backward_ops_are_with_their_forward_op(self):
    context.context().enable_graph_collection()
    self.addCleanup(context.context().disable_graph_collection)
    gradient(self.placed, self.variables, self.x, self.scale)
    graphs = context.context().export_run_metadata().function_graphs
    (backward,) = [
      graph
      for graph in graphs
      if any(
        node.name.startswith('gradients/')
        for node in graph.pre_optimization_graph.node
      )
    ]
    nodes = backward.pre_optimization_graph.node
    made = {n.name: n for n in nodes if n.name.startswith('gradients/')}
    self.assertGreater(len({n.device for n in made.values()}), 1)
    checked = 0
    inlined, _ = self.placed.placer_state.last
    for name, node in made.items():
      forward, mark, _ = name.removeprefix('gradients/').partition('_grad/')
      device = self.placement.devices.get(inlined.program.path(forward))
      if mark and device:
        self.assertEqual(node.device, device, name)
        checked += 1
    self.assertGreater(checked, 5)


if __name__ == '__main__':
  absltest.main()
