import dataclasses

from absl.testing import absltest

from placer.core import measurement
from placer.core import program
from placer.devices import target
from placer.measurers import failure
from placer.measurers import outcome
from placer.measurers import partitions

_Status = measurement.Status


class OutcomeTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.topology = target.resolve('logical:2', memory_limit='CPU:1=100')
    self.program = program.Program(b'', op_paths={'w': 'call@f/w'})
    self.ok = measurement.Measurement(
      _Status.OK, step_times_seconds=(1.0,), details={'warm_up_seconds': [2.0]}
    )
    self.read_back = partitions.ReadBack(
      actual_devices={'w': self.topology.names[0]},
      removed_ops=3,
      moved_ops=('w',),
      partition_hash='abc',
      peak_memory_bytes={self.topology.names[1]: 100},
      peak_memory_source='allocator',
    )

  def test_names_become_paths(self):
    result = outcome.ran(self.program, self.topology, self.ok, self.read_back)
    self.assertTrue(result.ok)
    self.assertEqual(
      result.actual_devices, {'call@f/w': self.topology.names[0]}
    )
    self.assertEqual(result.moved_ops, ('call@f/w',))
    self.assertEqual((result.removed_ops, result.partition_hash), (3, 'abc'))
    self.assertEqual(result.details['peak_memory_source'], 'allocator')
    self.assertEqual(result.details['warm_up_seconds'], [2.0])

  def test_over_the_limit_it_did_not_run(self):
    name = self.topology.names[1]
    over = dataclasses.replace(self.read_back, peak_memory_bytes={name: 101})
    result = outcome.ran(self.program, self.topology, self.ok, over)
    self.assertIs(result.status, _Status.OUT_OF_MEMORY)
    self.assertEqual(result.details['device'], name)
    self.assertRegex(result.reason, '101 bytes.*limit is 100')
    self.assertEmpty(result.step_times_seconds)

  def test_failures_name_the_op_by_its_path(self):
    result = outcome.failed(
      failure.Failure(_Status.UNSUPPORTED_OP, 'no kernel', {'op': 'w'}),
      self.program,
    )
    self.assertIs(result.status, _Status.UNSUPPORTED_OP)
    self.assertEqual(result.details, {'op': 'call@f/w'})

  def test_failures_in_bodies_are_found_by_their_lowered_name(self):
    fault = failure.Failure(_Status.CRASHED, 'x', {'op': 'w/body/_12/add'})
    for paths, expected in (
      (('call@f/w', 'call@f/w@body/add'), 'call@f/w@body/add'),
      (('call@f/w',), 'w/body/_12/add'),
    ):
      result = outcome.failed(fault, self.program, paths)
      self.assertEqual(result.details['op'], expected)


if __name__ == '__main__':
  absltest.main()
