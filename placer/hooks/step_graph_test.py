"""The graph of a function's step, for processes that know nothing of it."""

import pathlib

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.hooks import step_graph
from placer.hooks import traced_function
from placer.testing import logical_devices
from placer.testing import placed_pairs

logical_devices.ask_for()
normal = placed_pairs.normal


class StepGraphTest(absltest.TestCase):
  def trace(self, function, *args):
    return traced_function.trace(
      traced_function.polymorphic(function), args, {}, 'f'
    )

  def test_values_of_variables_are_not_copied(self):
    large = tf.Variable(tf.zeros([1024, 1024]))
    small = tf.Variable([7.0, 8.0])
    closed_over = normal(512, 512)

    def function(x):
      return x * small + tf.reduce_sum(large) + tf.reduce_sum(closed_over)

    traced = self.trace(function, normal(2))
    step = step_graph.build(traced, [normal(2)])
    program = step.imported.program
    self.assertLess(len(program.graph_def), 100_000)
    self.assertLess(len(program.setup_graph_def), 100_000)
    self.assertIn(small.numpy().tobytes(), program.setup_graph_def)
    fed = {feed.name: step.feed_values[feed.name] for feed in program.feeds}
    self.assertLen(fed, 2)
    np.testing.assert_array_equal(fed['x'], normal(2))

  def test_summaries_write_nothing(self):
    folder = self.create_tempdir().full_path
    writer = tf.summary.create_file_writer(folder)

    def function(x):
      with writer.as_default(step=tf.constant(1, tf.int64)):
        tf.summary.write('x', tf.reduce_sum(x))
      return tf.sin(x)

    step = step_graph.build(self.trace(function, normal(3)), [normal(3)])
    types = {node.op for node in step.imported.graph_def.node}
    self.assertNotIn('WriteSummary', types)
    placed = placed_pairs.place(function, normal(3))
    placed_pairs.assert_close(tf.sin(normal(3)), placed(normal(3)))
    writer.flush()
    (file,) = pathlib.Path(folder).iterdir()
    events = list(tf.compat.v1.train.summary_iterator(str(file)))
    self.assertLen([e for e in events if e.summary.value], 1)


if __name__ == '__main__':
  absltest.main()
