"""Keras models and training steps run the same under a placement."""

import keras
import numpy as np
import tensorflow as tf
from absl.testing import absltest

import placer
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()
normal = placed_pairs.normal
_LABELS = tf.constant([0, 2, 1, 1])


def cnn():
  keras.utils.set_random_seed(1)
  inputs = keras.Input([8, 8, 3])
  x = keras.layers.Conv2D(4, 3, activation='relu')(inputs)
  x = keras.layers.BatchNormalization()(x)
  left = keras.layers.Conv2D(4, 3, padding='same')(x)
  right = keras.layers.AveragePooling2D(3, 1, 'same')(x)
  x = keras.layers.GlobalAveragePooling2D()(left + right)
  return keras.Model(inputs, keras.layers.Dense(3)(x))


class Classifier(keras.Model):
  """A model with a training step of its own."""

  def __init__(self):
    super().__init__()
    self.hidden = keras.layers.Dense(8, activation='tanh')
    self.out = keras.layers.Dense(3)

  def call(self, x):
    return self.out(self.hidden(x))

  def train_step(self, data):
    x, y = data
    with tf.GradientTape() as tape:
      loss = self.compute_loss(y=y, y_pred=self(x, training=True))
    gradients = tape.gradient(loss, self.trainable_variables)
    self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
    return {'loss': loss}


def compiled(optimizer):
  keras.utils.set_random_seed(2)
  model = Classifier()
  model.compile(
    optimizer,
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    jit_compile=False,
  )
  model(tf.zeros([1, 6]))  # makes the variables
  model.optimizer.build(model.trainable_variables)
  return model


def values(variables):
  return [variable.value for variable in variables]


class KerasTest(absltest.TestCase):
  def test_cnn_forward(self):
    def make():
      model = cnn()
      return model, values(model.variables)

    placed_pairs.assert_same_steps(make, normal(2, 8, 8, 3))

  def test_functional_model_trains(self):
    def make():
      model = cnn()
      optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
      optimizer.build(model.trainable_variables)

      def step(x, y):
        with tf.GradientTape() as tape:
          loss = tf.reduce_mean(
            keras.losses.sparse_categorical_crossentropy(
              y, model(x, training=True), from_logits=True
            )
          )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients)
        return loss

      return step, values([*model.variables, *optimizer.variables])

    placed_pairs.assert_same_steps(make, normal(4, 8, 8, 3), _LABELS)

  def test_train_step_with_adam(self):
    def make():
      model = compiled(keras.optimizers.Adam(0.01))
      variables = [*model.variables, *model.optimizer.variables]
      return model.train_step, values(variables)

    placed_pairs.assert_same_steps(make, (normal(4, 6), _LABELS))

  def test_slots_are_with_their_variables(self):
    model = compiled(keras.optimizers.Adam(0.01))
    placement = logical_devices.spread(
      model.train_step, (normal(4, 6), _LABELS), move_variables=True
    )
    self.assertLen(placement.counts(), logical_devices.COUNT)
    placed = placer.apply_placement(
      model.train_step, placement, move_variables=True
    )
    twin = compiled(keras.optimizers.Adam(0.01))
    expected = twin.train_step((normal(4, 6), _LABELS))
    found = placed((normal(4, 6), _LABELS))
    placed_pairs.assert_close(expected, found)
    optimizer = model.optimizer
    where = {v.value.device for v in model.trainable_variables}
    self.assertGreater(len(where), 1)
    for variable, momentum, velocity in zip(
      model.trainable_variables,
      optimizer._momentums,
      optimizer._velocities,
      strict=True,
    ):
      self.assertEqual(variable.value.device, momentum.value.device)
      self.assertEqual(variable.value.device, velocity.value.device)
    placed_pairs.assert_close(values(twin.variables), values(model.variables))

  def test_fit_with_a_placed_train_step(self):
    x, y = normal(16, 6).numpy(), np.arange(16) % 3
    twin = compiled(keras.optimizers.SGD(0.1))
    expected = twin.fit(x, y, batch_size=4, shuffle=False, verbose=0)
    model = compiled(keras.optimizers.SGD(0.1))
    step = model.train_step
    data = tf.constant(x[:4]), tf.constant(y[:4])
    model.train_step = placer.apply_placement(
      step, logical_devices.spread(step, data)
    )
    found = model.fit(x, y, batch_size=4, shuffle=False, verbose=0)
    np.testing.assert_allclose(
      expected.history['loss'], found.history['loss'], rtol=1e-5
    )
    placed_pairs.assert_close(values(twin.variables), values(model.variables))

  def test_mixed_precision(self):
    keras.config.set_dtype_policy('mixed_bfloat16')
    self.addCleanup(keras.config.set_dtype_policy, 'float32')

    def make():
      model = compiled(keras.optimizers.SGD(0.1))
      return model.train_step, values(model.variables)

    placed = placed_pairs.assert_same_steps(make, (normal(4, 6), _LABELS))
    graph = placed.get_concrete_function((normal(4, 6), _LABELS)).graph
    self.assertIn(tf.bfloat16, {
      tensor.dtype for op in graph.get_operations() for tensor in op.outputs
    })  # fmt: skip


if __name__ == '__main__':
  absltest.main()
