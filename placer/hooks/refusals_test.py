"""What a placed function refuses, and with what words."""

import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

import placer
from placer.core import errors
from placer.core import placement as placement_lib
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()
normal = placed_pairs.normal
place = placed_pairs.place


def mlp(x):
  return tf.tanh(tf.matmul(x, tf.ones([4, 4]))) + tf.exp(-x)


class RefusalsTest(parameterized.TestCase):
  def test_jit_compile(self):
    jitted = tf.function(mlp, jit_compile=True)
    placement = placement_lib.Placement({'Tanh': logical_devices.name(1)})
    with self.assertRaisesRegex(errors.UsageError, 'jit_compile=True.*un_jit'):
      placer.apply_placement(jitted, placement)
    outer = placer.apply_placement(lambda x: jitted(x) * 2.0, placement)
    with self.assertRaisesRegex(errors.UsageError, 'un_jit=True'):
      outer(normal(2, 4))
    with self.assertLogs('absl', 'WARNING') as logs:
      placed = place(jitted, normal(2, 4), un_jit=True)
    self.assertRegex(logs.output[0], 'runs op by op')
    placed_pairs.assert_close(mlp(normal(2, 4)), placed(normal(2, 4)))
    placed_pairs.assert_as_requested(placed, normal(2, 4))

  def test_strategies(self):
    strategy = tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1'])
    placed = place(mlp, normal(2, 4))
    with strategy.scope():
      with self.assertRaisesRegex(errors.UsageError, 'MirroredStrategy'):
        placed(normal(2, 4))
      variable = tf.Variable(1.0)
    placed_pairs.assert_close(mlp(normal(2, 4)), placed(normal(2, 4)))
    other = placer.apply_placement(
      lambda x: x * variable,
      placement_lib.Placement({'mul': logical_devices.name(1)}),
    )
    with self.assertRaisesRegex(errors.UsageError, 'tf.distribute'):
      other(normal(2))

  @parameterized.parameters(
    ({'devices': 3}, 'must be a text'),
    ({'devices': 'moon:2'}, 'Forms:'),
    ({'devices': 'logical:5'}, r'set_logical_device_configuration.*\* 5'),
    ({'devices': 'simulated:k80x4'}, 'is simulated'),
    ({'policy': 'magic'}, "Unknown policy 'magic'"),
    ({'policy': ''}, 'names no policy'),
    ({'budget_seconds': -1.0}, 'must be positive'),
    ({'if_changed': 'explode'}, 'search, reuse, original'),
    ({'placement': 'placement.json'}, 'load_placement'),
    ({'placement': placement_lib.Placement({'x': 'GPU:7'})}, 'device_names'),
  )
  def test_arguments(self, options, message):
    options = {'devices': 'logical:3', 'policy': 'hill_climb'} | options
    with self.assertRaisesRegex(errors.UsageError, message):
      placer.place_function(mlp, normal(2, 4), **options)

  def test_other_arguments(self):
    placement = placement_lib.Placement({'Tanh': logical_devices.name(1)})
    with self.assertRaisesRegex(errors.UsageError, 'has no search to repeat'):
      placer.placed(placement=placement, if_changed='search')
    with self.assertRaisesRegex(errors.UsageError, 'does not know budget'):
      placer.apply_placement(mlp, placement, budget=3)
    with self.assertRaisesRegex(errors.UsageError, 'only for functions'):
      placer.apply_placement(tf.Graph().as_graph_def(), placement, un_jit=True)
    with self.assertRaisesRegex(errors.UsageError, 'not a placed function'):
      placer.placement_of(mlp)
    with self.assertRaisesRegex(errors.UsageError, 'not a placed function'):
      placer.run_and_read_back(mlp, normal(2, 4))
    with self.assertRaisesRegex(errors.UsageError, 'says nothing of'):
      placer.apply_placement(mlp, placement, devices={'GPU:0': 'CPU:0'})
    renamed = placer.apply_placement(
      mlp, placement, devices={logical_devices.name(1): 'CPU:2'}
    )
    renamed(normal(2, 4))
    self.assertEqual(
      placer.placement_of(renamed).devices, {'Tanh': logical_devices.name(2)}
    )


if __name__ == '__main__':
  absltest.main()
