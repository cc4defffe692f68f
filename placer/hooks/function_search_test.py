"""Searches for functions, from a process in which TensorFlow already runs."""

import json
import os
import pathlib

import numpy as np
import tensorflow as tf
from absl.testing import absltest

import placer
from placer.core import errors
from placer.hooks import options
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()
normal = placed_pairs.normal


class FunctionSearchTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.cache = self.create_tempdir().full_path
    before = os.environ.get('PLACER_CACHE_DIR')
    os.environ['PLACER_CACHE_DIR'] = self.cache
    self.addCleanup(self._restore, before)

  def _restore(self, before):
    del os.environ['PLACER_CACHE_DIR']
    if before is not None:
      os.environ['PLACER_CACHE_DIR'] = before

  def test_one_search_a_graph(self):
    w = tf.Variable(normal(64, 64))
    count = tf.Variable(0)
    calls = []

    @placer.placed(
      devices='logical:3',
      policy='hill_climb',
      budget_trials=5,
      budget_seconds=0,
      output_dir=self.create_tempdir('out').full_path,
    )
    def step(x, index):
      """Uses a variable, a counter and an index that must be in range."""
      calls.append(1)
      count.assign_add(1)
      tf.debugging.assert_greater(tf.reduce_max(w), 0.5)  # made values are less
      return tf.gather(tf.matmul(x, w), index), tf.exp(x)

    self.assertEmpty(calls)
    x, index = normal(32, 64), tf.constant([31, 0])
    placed_pairs.assert_close(
      (tf.gather(tf.matmul(x, w), index), tf.exp(x)), step(x, index)
    )
    # Measuring ran in children: here was one step.
    self.assertEqual(count.numpy(), 1)
    placement = placer.placement_of(step)
    self.assertEqual(placement.devices_spec, 'logical:3')
    self.assertIn('MatMul', placement.devices)
    out = pathlib.Path(step.placer_state.options.output_dir)
    self.assertEqual(
      placer.load_placement(out / 'placement.json').devices, placement.devices
    )
    report = json.loads((out / 'report.json').read_text())
    self.assertLen(report['trials'], 5)

    (kept,) = pathlib.Path(self.cache, 'functions').iterdir()
    self.assertEqual(placer.load_placement(kept).devices, placement.devices)
    step(normal(16, 64), tf.constant([3, 4, 5]))  # another shape: no search
    self.assertLen(list(pathlib.Path(self.cache, 'functions').iterdir()), 1)

    # Another function of the same graph is found in the cache.
    moved = dict.fromkeys(placement.devices, logical_devices.name(0))
    moved['Exp'] = logical_devices.name(2)
    placer.Placement(moved).save(kept)
    again = placer.place_function(
      step.placer_state._given,
      x,
      index,
      devices='logical:3',
      policy='hill_climb',
    )
    self.assertEqual(placer.placement_of(again).devices, moved)
    ran = placer.run_and_read_back(again, x, index)
    self.assertEqual(ran.actual['Exp'], logical_devices.name(2))
    self.assertIn('ops asked for', str(ran))

  def test_workers_cannot_be_reached(self):
    if len(os.sched_getaffinity(0)) < 2:
      self.skipTest('local:2 needs two cores.')

    def forward(x):
      return tf.tanh(tf.matmul(x, x)) + tf.nn.relu(tf.matmul(x + 1, x))

    x = normal(64, 64)
    with self.assertRaises(placer.DevicesElsewhereError) as caught:
      placer.place_function(
        forward,
        x,
        devices='local:2',
        policy='hill_climb',
        budget_trials=4,
        budget_seconds=0,
      )
    message = str(caught.exception)
    self.assertRegex(message, 'network namespace of their own')
    self.assertRegex(message, 'experimental_connect_to_cluster')
    placement = placer.load_placement(caught.exception.path)
    self.assertEqual(placement.devices, caught.exception.placement.devices)
    self.assertEqual(placement.devices_spec, 'local:2')
    self.assertIn('/job:worker', str(set(placement.devices.values())))
    # What to do, number two: use it on devices that are here.
    names = {
      f'/job:worker/replica:0/task:{i}/device:CPU:0': f'CPU:{i}'
      for i in range(2)
    }
    placed = placer.apply_placement(forward, placement, devices=names)
    placed_pairs.assert_close(forward(x), placed(x))
    # The same in one line; the search is not done twice.
    placed = placer.place_function(
      forward, x, devices='local:2', policy='hill_climb', device_names=names
    )
    placed_pairs.assert_close(forward(x), placed(x))

  def test_one_device_needs_no_search(self):
    with self.assertLogs('absl', 'WARNING') as logs:
      placed = placer.place_function(
        lambda x: tf.exp(x), normal(3), devices='CPU:0', policy='hill_climb'
      )
    self.assertRegex(logs.output[0], 'runs as it is')
    placed_pairs.assert_close(tf.exp(normal(3)), placed(normal(3)))

  def test_python_in_a_function_is_refused(self):
    def function(x):
      return tf.numpy_function(np.sin, [x], tf.float32) + tf.exp(x)

    with self.assertRaisesRegex(errors.UsageError, 'PyFunc'):
      placer.place_function(
        function, normal(3), devices='logical:3', policy='hill_climb'
      )
    iterator = iter(tf.data.Dataset.range(9))
    with self.assertRaisesRegex(errors.UsageError, 'cannot be made'):
      placer.place_function(
        lambda x: x + next(iterator),
        tf.constant(3, tf.int64),
        devices='logical:3',
        policy='hill_climb',
      )


class OptionsTest(absltest.TestCase):
  def test_the_default_policy_is_there(self):
    self.assertEqual(options.HookOptions().policies, ('portfolio',))


if __name__ == '__main__':
  absltest.main()
