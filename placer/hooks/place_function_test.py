"""The public names: arguments, signatures, retracing."""

import collections
import inspect

import tensorflow as tf
from absl.testing import absltest

import placer
from placer.core import errors
from placer.core import placement as placement_lib
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()
normal = placed_pairs.normal
place = placed_pairs.place

Pair = collections.namedtuple('Pair', ['first', 'second'])


def mlp(x):
  """Two layers."""
  return tf.tanh(tf.matmul(x, tf.ones([4, 4]))) + tf.exp(-x)


class SignatureTest(absltest.TestCase):
  def test_it_looks_like_the_function(self):
    placed = place(mlp, normal(2, 4))
    self.assertEqual(placed.__name__, 'mlp')
    self.assertEqual(placed.__doc__, 'Two layers.')
    self.assertEqual(
      inspect.signature(placed.python_function), inspect.signature(mlp)
    )
    concrete = placed.get_concrete_function(tf.TensorSpec([None, 4]))
    self.assertIsInstance(concrete, tf.types.experimental.ConcreteFunction)
    placed_pairs.assert_close(mlp(normal(3, 4)), concrete(normal(3, 4)))

  def test_defaults_keywords_and_structures(self):
    def function(x, y=2.0, *more, scale=1.0, names=('a',), **others):
      total = x['in'] * y * scale + sum(more) + others.get('bias', 0.0)
      return {n: Pair(tf.sin(total), [None, tf.cos(total)]) for n in names}

    x = {'in': normal(3)}
    placed = place(function, x)
    original = tf.function(function)
    for args, kwargs in (
      ((x,), {}),
      ((x, 3.0), {}),
      ((x, tf.constant(3.0), normal(3), normal(3, seed=1)), {}),
      ((x,), {'scale': 2.0, 'names': ('a', 'b'), 'bias': normal(3)}),
    ):
      found = placed(*args, **kwargs)
      placed_pairs.assert_close(original(*args, **kwargs), found)
      self.assertIsInstance(found['a'], Pair)
      self.assertIsNone(found['a'].second[0])

  def test_input_signature_is_kept(self):
    function = tf.function(
      mlp, input_signature=[tf.TensorSpec([None, 4], tf.float32)]
    )
    placed = place(function, normal(2, 4))
    placed_pairs.assert_close(mlp(normal(5, 4)), placed(normal(5, 4).numpy()))
    self.assertEqual(placed.experimental_get_tracing_count(), 1)
    with self.assertRaises((TypeError, ValueError)):
      placed(normal(5, 3))

  def test_methods(self):
    class Layer(tf.Module):
      def __init__(self, seed):
        super().__init__()
        self.w = tf.Variable(normal(4, 4, seed=seed))

      def plain(self, x):
        return tf.matmul(tf.sin(x), self.w) + tf.cos(x)

    one, other = Layer(1), Layer(2)
    x = normal(2, 4)
    Layer.placed = placer.placed(
      placement=logical_devices.spread(one.plain, x), if_changed='reuse'
    )(Layer.plain)
    for layer in (one, other):
      placed_pairs.assert_close(layer.plain(x), layer.placed(x))
      placed_pairs.assert_as_requested(layer.placed, x)
    bound = place(one.plain, x)
    placed_pairs.assert_close(one.plain(x), bound(x))

  def test_callables_of_every_kind(self):
    class Callable:
      def __call__(self, x):
        return tf.sin(x) + tf.cos(x)

    x = normal(3)
    concrete = tf.function(Callable()).get_concrete_function(x)
    for function in (
      Callable(),
      concrete,
      tf.function(lambda x: tf.sin(x) + 1),
    ):
      placed = place(function, x)
      placed_pairs.assert_close(function(x), placed(x))
    with self.assertRaisesRegex(errors.UsageError, 'cannot be called'):
      placer.apply_placement('model', placement_lib.Placement({}))

  def test_python_side_effects_happen_when_it_is_traced(self):
    seen = []

    def function(x):
      seen.append(1)
      return tf.sin(x) + tf.cos(x)

    placed = place(function, normal(3))
    traces = len(seen)
    for _ in range(3):
      placed(normal(3))
    self.assertLen(seen, traces + 1)

  def test_eager_mode_for_debugging(self):
    placed = place(mlp, normal(2, 4))
    tf.config.run_functions_eagerly(True)
    self.addCleanup(tf.config.run_functions_eagerly, False)
    placed_pairs.assert_close(mlp(normal(2, 4)), placed(normal(2, 4)))

  def test_variables_and_tables_as_arguments_and_captures(self):
    table = tf.lookup.StaticHashTable(
      tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1.0, 2.0]), 0.0
    )
    large = normal(64, 64)  # captured as it is, not copied

    def function(variable, words):
      variable.assign_add(table.lookup(words))
      return tf.reduce_sum(large) * variable

    words = tf.constant(['a', 'c', 'b'])
    one, other = tf.Variable(tf.zeros([3])), tf.Variable(tf.zeros([3]))
    placed = place(function, one, words)
    placed_pairs.assert_close(
      tf.function(function)(one, words), placed(other, words)
    )
    placed_pairs.assert_close(one.read_value(), other.read_value())


class RetracingTest(absltest.TestCase):
  def test_new_shapes_keep_the_placement(self):
    placed = place(mlp, normal(2, 4))
    for rows in (2, 3, 7):
      placed_pairs.assert_close(mlp(normal(rows, 4)), placed(normal(rows, 4)))
      placed_pairs.assert_as_requested(placed, normal(rows, 4))

  def test_a_changed_graph_says_so(self):
    def function(x, depth):
      for _ in range(depth):
        x = tf.sin(x) + tf.cos(x)
      return x

    x = normal(3)
    placement = logical_devices.spread(function, x, 2)
    expected = tf.function(function)(x, 4)
    placed = placer.apply_placement(function, placement)
    with self.assertLogs('absl', 'WARNING') as logs:
      placed_pairs.assert_close(expected, placed(x, 4))
    self.assertRegex(logs.output[0], 'has changed: 6 of its 12 ops')
    placed_pairs.assert_as_requested(placed, x, 4)
    original = placer.apply_placement(
      function, placement, if_changed='original'
    )
    with self.assertLogs('absl', 'WARNING') as logs:
      placed_pairs.assert_close(expected, original(x, 4))
    self.assertRegex(logs.output[0], 'runs without a placement')
    with self.assertRaisesRegex(errors.UsageError, 'has no placement'):
      placer.placement_of(original)

  def test_a_placement_of_something_else(self):
    placement = placement_lib.Placement({'dense': logical_devices.name(1)})
    placed = placer.apply_placement(mlp, placement)
    with self.assertRaisesRegex(errors.UsageError, 'none of the .* ops of mlp'):
      placed(normal(2, 4))


if __name__ == '__main__':
  absltest.main()
