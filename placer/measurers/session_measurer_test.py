import os
import pathlib
import socket

import numpy as np
from absl.testing import absltest

from placer.core import errors
from placer.core import program
from placer.devices import alike as alike_lib
from placer.devices import target
from placer.measurers import measurer_contract
from placer.measurers import session_measurer
from placer.measurers import session_options
from placer.measurers import step_timeline
from placer.measurers import toy_programs

_QUICK = session_options.SessionOptions(steps=3, warm_up_steps=2)


def _listening() -> set[str]:
  """The listening sockets of this network namespace."""
  found = set()
  for path in ('/proc/net/tcp', '/proc/net/tcp6'):
    try:
      lines = pathlib.Path(path).read_text().splitlines()[1:]
    except OSError:
      continue
    found |= {line.split()[1] for line in lines if line.split()[3] == '0A'}
  return found


def _needs_two_cores(test: absltest.TestCase) -> None:
  if len(os.sched_getaffinity(0)) < 2:
    test.skipTest('local:2 needs two cores.')


class _Shared:
  """One measurer for the tests of a class: starting it takes seconds."""

  spec = ''
  toy = toy_programs.training

  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    if len(os.sched_getaffinity(0)) < 2:
      raise absltest.SkipTest('local:2 needs two cores.')
    cls.topology = target.resolve(cls.spec)
    made = cls.toy()
    cls.problem = toy_programs.problem(made, cls.topology)
    cls.measurer = session_measurer.SessionMeasurer(
      made.program, cls.topology, _QUICK
    )
    cls.addClassCleanup(cls.measurer.close)

  def make(self):
    return self.measurer, self.problem

  def make_to_close(self):
    made = type(self).toy()
    measurer = session_measurer.SessionMeasurer(
      made.program, self.topology, _QUICK
    )
    return measurer, self.problem


class LocalWorkersTest(
  _Shared, measurer_contract.MeasurerContract, absltest.TestCase
):
  spec = 'local:2'
  toy = staticmethod(toy_programs.training)

  def test_ops_run_where_they_were_asked_to(self):
    (result,) = self.measurer.measure(self.problem, np.array([[0, 1]]))
    actual = result.actual_devices
    self.assertEqual(actual['a/mul'], self.topology.names[0])
    self.assertEqual(actual['b/mul'], self.topology.names[1])
    self.assertGreater(result.setup_seconds, 0)
    self.assertSetEqual(set(result.peak_memory_bytes), set(self.topology.names))

  def test_values_do_not_depend_on_the_placement(self):
    kwargs = {'steps': 3, 'variables': True}
    plain = self.measurer.unplaced_values(self.problem, **kwargs)
    self.assertContainsSubset({'b/loss:0', 'a/weight', 'b/weight'}, plain)
    for candidate in ([0, 0], [0, 1], [1, 0]):
      placed = self.measurer.fetch_values(
        self.problem, np.array(candidate), **kwargs
      )
      self.assertEqual(placed.keys(), plain.keys())
      for name, value in plain.items():
        # Workers and host share out sums differently.
        np.testing.assert_allclose(placed[name], value, rtol=1e-4, atol=1e-6)

  def test_whole_host(self):
    result = self.measurer.measure_whole_host(
      self.problem, reference=np.array([0, 1]), steps=3
    )
    self.assertTrue(result.ok, result.reason)
    self.assertLen(result.reference_times_seconds, 3)
    self.assertEmpty(result.moved_ops)

  def test_links(self):
    with absltest.mock.patch.dict(
      os.environ, {'PLACER_CACHE_DIR': self.create_tempdir().full_path}
    ):
      links = self.measurer.measure_links()
      self.assertEqual(
        [(link.source, link.target) for link in links], [(0, 1), (1, 0)]
      )
      for link in links:
        self.assertBetween(link.latency_seconds, 1e-6, 0.1)
        self.assertBetween(link.bytes_per_second, 1e7, 1e12)
        self.assertGreaterEqual(link.load_seconds, 0.0)
        self.assertGreaterEqual(link.load_seconds_per_byte, 0.0)
      self.assertEqual(self.measurer.measure_links(), links)

  def test_profiles_each_kind_of_device_once(self):
    with absltest.mock.patch.dict(
      os.environ, {'PLACER_CACHE_DIR': self.create_tempdir().full_path}
    ):
      found = self.measurer.profile(self.problem, seconds=0.0)
      self.assertSetEqual(set(found), {0, 1})
      alike = len(alike_lib.classes(self.topology)) == 1
      self.assertEqual(found[0] is found[1], alike)
      index = self.problem.graph.index
      for name in ('a/mul', 'b/mul', 'a/relu'):
        self.assertTrue(found[1].is_run[index[name]], name)
      again = self.measurer.profile(self.problem, seconds=0.0)
      for device, profile in again.items():
        np.testing.assert_array_equal(
          profile.op_seconds, found[device].op_seconds
        )
    with self.assertRaises(KeyError):
      self.measurer.lane_pid('profile')  # it has ended

  def test_traces_of_steps_that_were_run(self):
    traces = self.measurer.trace(self.problem, np.array([0, 1]), steps=3)
    self.assertLen(traces, 3)
    step = step_timeline.choose(traces, self.topology.names)
    where = {op.name: op.device for op in step.ops}
    self.assertEqual(where['a/mul'], self.topology.names[0])
    self.assertEqual(where['b/mul'], self.topology.names[1])
    self.assertNotEmpty(step.transfers)
    for transfer in step.transfers:
      self.assertSetEqual(
        {transfer.source, transfer.target}, set(self.topology.names)
      )
    # Eight rows of 64 floats come back from the second layer.
    sizes = {transfer.name: transfer.bytes for transfer in step.transfers}
    self.assertEqual(sizes.get('b/relu', 2048), 2048)

  def test_nobody_outside_can_reach_the_workers(self):
    before = _listening()
    self.measurer.measure(self.problem, np.array([[0, 1]]))
    self.assertEqual(_listening(), before)
    pid = self.measurer.lane_pid('candidate')
    inside = pathlib.Path(f'/proc/{pid}/net/tcp6').read_text().splitlines()[1:]
    ports = {
      int(line.split()[1].rpartition(':')[2], 16)
      for line in inside
      if line.split()[3] == '0A'
    }
    self.assertGreaterEqual(len(ports), 2)
    for port in ports:
      with self.assertRaises(ConnectionRefusedError):
        socket.create_connection(('127.0.0.1', port), timeout=2).close()


class LogicalDevicesTest(
  _Shared, measurer_contract.MeasurerContract, absltest.TestCase
):
  spec = 'logical:2'
  toy = staticmethod(toy_programs.loop)

  def test_a_loop_computes_the_same_on_both(self):
    plain = self.measurer.unplaced_values(self.problem)
    for candidate in ([0, 1], [1, 0]):
      placed = self.measurer.fetch_values(self.problem, np.array(candidate))
      np.testing.assert_allclose(placed['b/out:0'], plain['b/out:0'], rtol=1e-5)


class InputsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.topology = target.resolve('logical:2')

  def _measurer(self, toy, **options):
    measurer = session_measurer.SessionMeasurer(
      toy.program,
      self.topology,
      session_options.SessionOptions(steps=2, warm_up_steps=1, **options),
    )
    self.addCleanup(measurer.close)
    return measurer

  def test_removed_ops_and_duplicates(self):
    toy = toy_programs.removed_identity()
    problem = toy_programs.problem(toy, self.topology)
    measurer = self._measurer(toy)
    one, split, other = measurer.measure(
      problem, np.array([[0, 0], [0, 1], [1, 1]])
    )
    self.assertEqual(one.removed_ops, 1)
    self.assertNotIn('b/same', split.actual_devices)
    self.assertEqual(one.partition_hash, split.partition_hash)
    self.assertNotEqual(one.partition_hash, other.partition_hash)

  def test_all_kinds_of_feeds(self):
    import tensorflow as tf

    dtypes = ('float32', 'int32', 'int64', 'bool', 'string', 'bfloat16')

    def make():
      for dtype in dtypes:
        x = tf.compat.v1.placeholder(dtype, [3], name=f'b/{dtype}')
        tf.identity(x, name=f'{dtype}_out')

    toy = toy_programs.build(
      make,
      fetches=[f'{dtype}_out:0' for dtype in dtypes],
      feeds=[program.Feed(f'b/{dtype}:0', dtype, (3,)) for dtype in dtypes],
    )
    problem = toy_programs.problem(toy, self.topology)
    measurer = self._measurer(toy)
    (result,) = measurer.measure(problem, np.array([[0, 1]]))
    self.assertTrue(result.ok, result.reason)
    self.assertEmpty(result.moved_ops)
    values = measurer.fetch_values(problem, np.array([0, 1]))
    self.assertLen(values, len(dtypes))

  def test_feeds_come_from_file_or_seed(self):
    toy = toy_programs.removed_identity()
    problem = toy_programs.problem(toy, self.topology)
    path = os.path.join(self.create_tempdir().full_path, 'feeds.npz')
    np.savez(path, x=np.arange(4, dtype=np.float32))
    from_file = self._measurer(toy, feeds_file=path)
    np.testing.assert_allclose(
      from_file.unplaced_values(problem)['exp:0'],
      np.exp(np.arange(4.0) ** 2),
      rtol=1e-5,
    )
    one, again, other = (
      self._measurer(toy, seed=seed).unplaced_values(problem)['exp:0']
      for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    self.assertFalse(np.array_equal(one, other))
    with self.assertRaisesRegex(errors.UsageError, "nothing for feed 'x:0'"):
      self._measurer(toy, feed_values={})

  def test_side_effects_are_refused_unless_allowed(self):
    import tensorflow as tf

    toy = toy_programs.build(
      lambda: tf.io.read_file(__file__, name='b/text'), fetches=['b/text']
    )
    with self.assertRaisesRegex(errors.UsageError, 'ReadFile'):
      self._measurer(toy)
    measurer = self._measurer(toy, allow_side_effects=('ReadFile',))
    problem = toy_programs.problem(toy, self.topology)
    (result,) = measurer.measure(problem, np.array([[0, 1]]))
    self.assertTrue(result.ok, result.reason)

  def test_this_process_never_makes_a_device(self):
    from tensorflow.python.eager import context

    # Tests of other files may have made some before, in the same process.
    before = context.context()._initialized
    toy = toy_programs.removed_identity()
    measurer = self._measurer(toy)
    measurer.measure(
      toy_programs.problem(toy, self.topology), np.array([[0, 1]])
    )
    self.assertEqual(context.context()._initialized, before)


if __name__ == '__main__':
  absltest.main()
