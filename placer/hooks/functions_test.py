"""Functions of many kinds run the same under a placement."""

import sonnet as snt
import tensorflow as tf
from absl.testing import absltest

from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()


normal = placed_pairs.normal


class FunctionsTest(absltest.TestCase):
  def test_linear(self):
    def make():
      w, b = tf.Variable(normal(8, 4)), tf.Variable(tf.zeros([4]))
      return lambda x: tf.matmul(x, w) + b, [w, b]

    placed_pairs.assert_same_steps(make, normal(5, 8))

  def test_lstm_by_autograph_loop(self):
    def make():
      kernel = tf.Variable(normal(16, 32) / 4)
      calls = tf.Variable(0)

      def lstm(inputs):
        batch = tf.shape(inputs)[1]
        hidden, cell = tf.zeros([batch, 8]), tf.zeros([batch, 8])
        for step in tf.range(tf.shape(inputs)[0]):
          gates = tf.matmul(tf.concat([inputs[step], hidden], 1), kernel)
          i, f, o, g = tf.split(gates, 4, 1)
          cell = tf.sigmoid(f) * cell + tf.sigmoid(i) * tf.tanh(g)
          hidden = tf.sigmoid(o) * tf.tanh(cell)
        calls.assign_add(1)
        return tf.nn.softmax(tf.matmul(hidden, tf.ones([8, 3])) + 1)

      return lstm, [kernel, calls]

    placed_pairs.assert_same_steps(make, normal(6, 4, 8))

  def test_transformer_block(self):
    def make():
      names = ('query', 'key', 'value', 'out')
      w = {n: tf.Variable(normal(16, 16, seed=i)) for i, n in enumerate(names)}
      up, down = tf.Variable(normal(16, 32)), tf.Variable(normal(32, 16))

      def block(x):
        heads = {
          n: tf.transpose(
            tf.reshape(tf.einsum('btd,de->bte', x, w[n]), [2, 5, 4, 4]),
            [0, 2, 1, 3],
          )
          for n in names[:3]
        }
        scores = tf.matmul(heads['query'], heads['key'], transpose_b=True) / 2
        mixed = tf.matmul(tf.nn.softmax(scores), heads['value'])
        mixed = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [2, 5, 16])
        x += tf.einsum('btd,de->bte', mixed, w['out'])
        hidden = tf.nn.gelu(tf.einsum('btd,de->bte', x, up))
        return {'x': x + tf.einsum('btd,de->bte', hidden, down), 'att': scores}

      return block, [*w.values(), up, down]

    placed_pairs.assert_same_steps(make, normal(2, 5, 16))

  def test_sonnet_training_step(self):
    def make():
      tf.random.set_seed(1)
      net = snt.Sequential([snt.Linear(8), tf.nn.relu, snt.Linear(3)])
      optimizer = snt.optimizers.Momentum(0.1, 0.9)
      net(normal(4, 6))

      def step(x, y):
        with tf.GradientTape() as tape:
          logits = net(x)
          loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
          )
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply(gradients, net.trainable_variables)
        return loss

      optimizer._initialize(net.trainable_variables)
      return step, [*net.variables, *optimizer.variables]

    placed_pairs.assert_same_steps(
      make, normal(4, 6), tf.constant([0, 1, 2, 1])
    )

  def test_nested_functions(self):
    def make():
      scale, count = tf.Variable(2.0), tf.Variable(0)

      @tf.function
      def inner(x):
        count.assign_add(1)
        return tf.sin(x) * scale

      @tf.function
      def middle(x, twice=True):
        x = inner(x) + inner(x + 1)
        return inner(x) if twice else x

      return lambda x: middle(x) + middle(x, twice=False), [scale, count]

    placed_pairs.assert_same_steps(make, normal(3, 3))

  def test_cond_and_while(self):
    def make():
      state = tf.Variable(normal(4))

      def function(x, limit):
        if tf.reduce_sum(x) > limit:
          state.assign(state * 0.5)
          y = tf.exp(-x)
        else:
          y = tf.cos(x)
        y, _ = tf.while_loop(
          lambda y, i: i < 4,
          lambda y, i: (tf.sin(y) + state, i + 1),
          (y, 0),
        )
        return y, tf.switch_case(
          tf.cast(limit, tf.int32),
          [lambda: tf.square(y), lambda: tf.sqrt(tf.abs(y)), lambda: -y],
        )

      return function, [state]

    placed_pairs.assert_same_steps(make, normal(4), tf.constant(1.0))
    placed_pairs.assert_same_steps(make, normal(4), tf.constant(-9.0))

  def test_ragged_and_sparse(self):
    def make():
      table = tf.Variable(normal(10, 4))

      def function(words, weights, *, scale):
        embedded = tf.ragged.map_flat_values(
          tf.nn.embedding_lookup, table, words
        )
        dense = tf.reduce_sum(embedded, axis=1) * scale
        mixed = tf.sparse.sparse_dense_matmul(weights, dense)
        return embedded * 2.0, mixed, tf.sparse.map_values(tf.square, weights)

      return function, [table]

    words = tf.ragged.constant([[1, 2, 3], [], [4, 9]])
    weights = tf.sparse.from_dense([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    placed_pairs.assert_same_steps(
      make, words, weights, kwargs={'scale': tf.constant(2.0)}
    )

  def test_random_numbers(self):
    def make():
      generator = tf.random.Generator.from_seed(5)

      def function(x):
        noise = tf.random.normal(tf.shape(x)) + generator.uniform(tf.shape(x))
        return tf.nn.dropout(x, 0.5) + noise, tf.random.shuffle(x)

      return function, [generator.state]

    placed_pairs.assert_same_steps(make, normal(4, 4))

  def test_assertions_and_prints(self):
    def make():
      count = tf.Variable(0)

      def function(x):
        tf.print('sum', tf.reduce_sum(x), output_stream='file:///dev/null')
        tf.debugging.assert_all_finite(x, 'not finite')
        count.assign_add(1)
        tf.print('count', count, output_stream='file:///dev/null')
        tf.debugging.assert_less(x, 9.0, message='too large')
        return tf.math.log1p(tf.abs(x)), None, 'text'

      return function, [count]

    placed = placed_pairs.assert_same_steps(make, normal(4))
    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, 'too large'):
      placed(normal(4) + 10)
    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, 'not finite'):
      placed(tf.constant([1.0, 2.0, float('nan'), 0.0]))


if __name__ == '__main__':
  absltest.main()
