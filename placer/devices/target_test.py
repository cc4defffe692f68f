import os
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from placer.core import device
from placer.core import errors
from placer.devices import cores
from placer.devices import discovery
from placer.devices import target
from placer.devices.kinds import registry

_CPU = '/job:localhost/replica:0/task:0/device:CPU:0'
_GPUS = [f'/job:localhost/replica:0/task:0/device:GPU:{i}' for i in range(2)]


def _machine(gpus: int):
  """Has `discovery.discover` see a machine with that many GPUs."""
  found = [device.Device(_CPU, description='8 cores')] + [
    device.Device(_GPUS[i], memory_bytes=16 << 30, description='A GPU')
    for i in range(gpus)
  ]
  return mock.patch.object(
    discovery, 'discover', lambda: tuple(found[1:] + found[:1])
  )


def _cores(count: int):
  return mock.patch.object(cores, 'usable', lambda: tuple(range(count)))


class TargetTest(parameterized.TestCase):
  def test_local_workers(self):
    with _cores(4):
      topology = target.resolve('local:2')
      layout = target.layout(topology)
    self.assertEqual(
      topology.names,
      tuple(f'/job:worker/replica:0/task:{i}/device:CPU:0' for i in range(2)),
    )
    sets = layout.worker_cores
    self.assertEqual([len(members) for members in sets], [2, 2])
    self.assertEmpty(set(sets[0]) & set(sets[1]))
    self.assertEqual(layout.host_cores, (0, 1, 2, 3))
    self.assertIn('2 hosts or sockets', topology.stands_for)
    self.assertTrue(topology.timing_is_meaningful)

  def test_simulated_devices_live_in_no_process(self):
    topology = target.resolve('simulated:k80x2+cpu_core', memory_limit='1GB')
    self.assertEqual(topology.names, (*_GPUS, _CPU))
    self.assertTrue(topology.is_simulated)
    self.assertIn('nothing was run', topology.stands_for)
    self.assertLen(topology.links, 6)
    self.assertEqual({d.memory_bytes for d in topology.devices}, {10**9})
    with self.assertRaisesRegex(errors.UsageError, 'nothing can be run'):
      target.layout(topology)

  def test_simulated_devices_of_a_file_where_the_user_is(self):
    folder = self.create_tempdir()
    folder.create_file(
      'two.json', content='{"devices": [{"device": "v100", "count": 2}]}'
    )
    where = {'BUILD_WORKING_DIRECTORY': folder.full_path}
    with mock.patch.dict(os.environ, where):
      self.assertLen(target.resolve('simulated:two.json'), 2)
    with self.assertRaisesRegex(errors.UsageError, 'k80'):
      target.resolve('simulated:k81x2')

  @parameterized.parameters('local:3', 'local:0', 'local', 'local:x')
  def test_local_names_count_and_choices(self, spec):
    with (
      _cores(2),
      self.assertRaisesRegex(errors.UsageError, r'1\.\.2.*local:1, local:2'),
    ):
      target.resolve(spec)

  def test_logical_devices_say_that_times_mean_nothing(self):
    topology = target.resolve('logical:3')
    self.assertLen(topology, 3)
    self.assertFalse(topology.timing_is_meaningful)
    self.assertIn('correctness only', topology.stands_for)
    self.assertEqual(target.layout(topology).logical_cpus, 3)
    self.assertEmpty(target.layout(topology).worker_cores)

  @parameterized.parameters('logical:0', 'logical:65', 'logical', 'logical:-1')
  def test_logical_count(self, spec):
    with self.assertRaisesRegex(errors.UsageError, r'1\.\.64'):
      target.resolve(spec)

  def test_auto_has_gpus_first(self):
    with _machine(gpus=2):
      topology = target.resolve('auto')
      layout = target.layout(topology)
    self.assertEqual(topology.names, (*_GPUS, _CPU))
    self.assertEqual(layout.gpus, 2)
    # The GPU's own size is not a limit to be set aside.
    self.assertEmpty(layout.memory_limits)
    self.assertEmpty(target.nothing_to_place(topology))

  def test_a_limit_below_a_gpus_size_is_enforced(self):
    with _machine(gpus=1):
      topology = target.resolve('auto', memory_limit='GPU:0=2GiB')
      layout = target.layout(topology)
    self.assertEqual(layout.memory_limits, {_GPUS[0]: 2 << 30})

  def test_one_device_has_nothing_to_place(self):
    with _machine(gpus=0), _cores(2):
      topology = target.resolve('auto')
      self.assertRegex(target.nothing_to_place(topology), 'local:2.*logical:2')

  @parameterized.parameters(
    ('GPU:1,CPU:0', (_GPUS[1], _CPU)),
    ('/gpu:0', (_GPUS[0],)),
    ('gpu0, /device:CPU:0', (_GPUS[0], _CPU)),
    (f'{_CPU},{_GPUS[1]}', (_CPU, _GPUS[1])),
  )
  def test_names(self, spec, expected):
    with _machine(gpus=2):
      self.assertEqual(target.resolve(spec).names, expected)

  @parameterized.parameters('GPU:2', 'CPU:0,CPU:1', '/job:ps/task:1', 'tpu:0')
  def test_absent_devices_list_those_that_exist(self, spec):
    with (
      _machine(gpus=1),
      self.assertRaisesRegex(errors.UsageError, 'GPU:0, .*CPU:0 here'),
    ):
      target.resolve(spec)

  def test_a_device_named_twice(self):
    with _machine(gpus=1), self.assertRaisesRegex(errors.UsageError, 'twice'):
      target.resolve('CPU:0,/cpu:0')

  @parameterized.parameters('', 'nonsense', 'auto:2', 'GPU:0,', 'remote:2')
  def test_unknown_forms_list_all_forms(self, spec):
    with self.assertRaisesRegex(errors.UsageError, 'auto .*local:N .*logical'):
      target.resolve(spec)

  def test_each_kind_is_found_by_its_file(self):
    folder = os.path.dirname(registry.__file__)
    files = {
      name.removesuffix('.py')
      for name in os.listdir(folder)
      if name.endswith('.py') and not name.endswith('_test.py')
    } - {'__init__', 'base', 'registry'}
    modules = {
      type(kind).__module__.rpartition('.')[2] for kind in registry.all_kinds()
    }
    self.assertEqual(modules, files)


if __name__ == '__main__':
  absltest.main()
