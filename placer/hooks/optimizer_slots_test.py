import keras
import tensorflow as tf
from absl.testing import absltest

from placer.hooks import optimizer_slots
from placer.hooks import reimport
from placer.hooks import traced_function
from placer.testing import placed_pairs


class OptimizerSlotsTest(absltest.TestCase):
  def test_adam_by_plain_ops(self):
    weights = [keras.Variable(placed_pairs.normal(3, 3)) for _ in range(3)]
    frozen = tf.Variable(tf.ones([3, 3]), trainable=False)
    average = tf.Variable(tf.ones([3, 3]), trainable=False)
    optimizer = keras.optimizers.Adam(0.1, global_clipnorm=1.0)
    optimizer.build(weights)

    @tf.function
    def step(x):
      with tf.GradientTape() as tape:
        for weight in weights:
          x = tf.tanh(tf.matmul(x, weight.value) + frozen)
        loss = tf.reduce_sum(x)
      gradients = tape.gradient(loss, [w.value for w in weights])
      optimizer.apply(gradients, weights)
      average.assign(0.9 * average + 0.1 * weights[0].value)
      return loss

    traced = traced_function.trace(
      traced_function.polymorphic(lambda x: step(x)),
      [placed_pairs.normal(3, 3)],
      {},
      'step',
    )
    slots = optimizer_slots.find(
      reimport.inline(traced).graph_def, traced.variables
    )
    found = {
      (id(traced.variables[slot]), id(traced.variables[variable]))
      for slot, variable in slots.items()
    }
    expected = {
      (id(slot.value), id(weight.value))
      for several in (optimizer._momentums, optimizer._velocities)
      for slot, weight in zip(several, weights, strict=True)
    }
    self.assertEqual(found, expected)


if __name__ == '__main__':
  absltest.main()
