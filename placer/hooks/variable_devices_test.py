"""Variables of placed functions: those that stay, those that move."""

import tensorflow as tf
from absl.testing import absltest

import placer
from placer.core import errors
from placer.core import placement as placement_lib
from placer.devices import target
from placer.hooks import traced_function
from placer.hooks import variable_devices
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()
normal = placed_pairs.normal
place = placed_pairs.place


class VariablesTest(absltest.TestCase):
  def make(self, count=30):
    variables = [tf.Variable(normal(4, seed=i)) for i in range(count)]

    def function(x):
      for variable in variables:
        x = tf.sin(x) * variable
        variable.assign_add(x)
      return x

    return function, variables

  def test_those_that_would_have_to_move(self):
    function, variables = self.make()
    twin, twins_variables = self.make()
    x = normal(4)
    placement = logical_devices.spread(function, x, move_variables=True)
    refused = placer.apply_placement(function, placement)
    with self.assertRaisesRegex(
      errors.UsageError,
      r'variables on other devices: Variable .*move_variables',
    ):
      refused(x)
    before = tf.function(function)
    expected = tf.function(twin)
    placed_pairs.assert_close(expected(x), before(x))

    moved = placer.apply_placement(function, placement, move_variables=True)
    for _ in range(3):
      placed_pairs.assert_close(expected(x), moved(x))
    devices = {variable.device for variable in variables}
    self.assertLen(devices, logical_devices.COUNT)
    for variable, twins in zip(variables, twins_variables, strict=True):
      placed_pairs.assert_close(variable.read_value(), twins.read_value())
      variable.assign(twins * 2)  # it is a variable like any other
    # What was traced before must not go on with values of its own.
    with self.assertRaises(tf.errors.OpError):
      before(x)
    placed_pairs.assert_close(tf.function(function)(x).shape, x.shape)
    placed_pairs.assert_as_requested(moved, x)

  def test_those_that_stay_hold_their_ops(self):
    with tf.device('/device:CPU:2'):
      variable = tf.Variable(normal(4))

    def function(x):
      variable.assign_add(x)
      return tf.sin(x) + tf.cos(x) * variable

    placed = place(function, normal(4))
    ran = placer.run_and_read_back(placed, normal(4))
    self.assertEmpty(ran.moved_ops)
    self.assertEqual(variable.device, logical_devices.name(2))
    self.assertEqual(ran.actual['AssignAddVariableOp'], variable.device)

  def test_a_search_knows_where_passed_variables_are(self):
    with tf.device('/device:CPU:1'):
      variable, captured = tf.Variable(normal(4)), tf.Variable(normal(4))
    function = tf.function(lambda v, x: v.assign_add(captured * x))
    traced = traced_function.trace(function, [variable, normal(4)], {}, 'f')
    arguments = traced.flat_inputs([variable, normal(4)], {})
    topology = target.resolve('logical:3')
    pinned = variable_devices.pinned(
      traced, topology, arguments, move_variables=False
    )
    self.assertLen(pinned, 2)
    self.assertEqual(set(pinned.values()), {1})
    pinned = variable_devices.pinned(
      traced, topology, arguments, move_variables=True
    )
    self.assertEqual(pinned, {traced.inputs[0]: 1})
    with self.assertRaisesRegex(errors.UsageError, 'is on .*CPU:1, which is'):
      variable_devices.pinned(
        traced, target.resolve('CPU:0'), arguments, move_variables=False
      )

  def test_variables_made_in_the_first_call(self):
    made = []

    def function(x):
      if not made:
        made.append(tf.Variable(tf.ones([4])))
      made[0].assign_add(x)
      return made[0] * 2.0 + tf.sin(x)

    placed = placer.apply_placement(
      function,
      placement_lib.Placement(
        {
          'Sin': logical_devices.name(1),
          'mul': logical_devices.name(2),
        }
      ),
    )
    for i in range(1, 4):
      placed_pairs.assert_close(
        (1.0 + i * normal(4)) * 2 + tf.sin(normal(4)), placed(normal(4))
      )
    ran = placer.run_and_read_back(placed, normal(4))
    self.assertEqual(ran.actual['Sin'], logical_devices.name(1))


if __name__ == '__main__':
  absltest.main()
