import dataclasses
import os

from absl.testing import absltest

from placer.core import device as device_lib
from placer.devices import alike
from placer.devices import layout as layout_lib
from placer.devices import target

_LOCAL = '/job:localhost/replica:0/task:0/device:'


class AlikeTest(absltest.TestCase):
  def test_workers_with_as_many_cores_are_one_class(self):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
      self.skipTest('local:2 needs two cores.')
    topology = target.resolve('local:2', memory_limit='1GiB')
    layout = target.layout(topology)
    found = alike.classes(topology)
    sizes = [len(members) for members in layout.worker_cores]
    self.assertLen(found, len(set(sizes)))
    self.assertCountEqual([i for one in found for i in one.devices], [0, 1])
    first = found[0]
    # Alone, on the worker's cores, without its limit.
    self.assertEqual(
      first.layout, layout_lib.ProcessLayout(host_cores=layout.worker_cores[0])
    )
    self.assertEqual(first.name, f'{_LOCAL}CPU:0')
    self.assertIn(f'{sizes[0]} cores', first.key)

  def test_logical_devices_are_all_alike(self):
    topology = target.resolve('logical:3')
    (found,) = alike.classes(topology)
    self.assertEqual(found.devices, (0, 1, 2))
    self.assertEqual(found.layout.logical_cpus, 1)
    self.assertEqual(found.layout.gpus, 0)

  def test_gpus_are_alike_by_their_description(self):
    topology = dataclasses.replace(
      target.resolve('logical:2'),
      devices=tuple(
        device_lib.Device(_LOCAL + name, description=description)
        for name, description in (
          ('GPU:0', 'V100'),
          ('CPU:0', 'a host'),
          ('GPU:1', 'K80'),
          ('GPU:2', 'V100'),
        )
      ),
    )
    found = alike.classes(topology)
    self.assertEqual([one.devices for one in found], [(0, 3), (1,), (2,)])
    self.assertEqual(
      [one.name for one in found],
      [f'{_LOCAL}GPU:0', f'{_LOCAL}CPU:0', f'{_LOCAL}GPU:0'],
    )
    self.assertLen({one.key for one in found}, 3)


if __name__ == '__main__':
  absltest.main()
