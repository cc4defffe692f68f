"""Which devices are alike, so that one of them is profiled for all.

A profile is taken in a process of its own that sees nothing but one device,
without workers and networks (`DeviceClass.layout`), where TensorFlow puts all
ops that can run there on that device.
"""

import dataclasses

from placer.core import device as device_lib
from placer.devices import cores as cores_lib
from placer.devices import layout as layout_lib
from placer.devices import target

_LOCAL = '/job:localhost/replica:0/task:0'


@dataclasses.dataclass(frozen=True)
class DeviceClass:
  """Devices on which an op takes as long.

  Attributes:
    key: what they have in common, for people and caches.
    devices: their indices.
    layout: of a process that has one of them.
    name: full name of that device in that process.
  """

  key: str
  devices: tuple[int, ...]
  layout: layout_lib.ProcessLayout
  name: str


def classes(topology: device_lib.DeviceTopology) -> tuple[DeviceClass, ...]:
  """The classes of a topology's devices, in the order of their first ones.

  Args:
    topology: D real devices.

  Returns:
    The classes; each device is in one.
  """
  layout = target.layout(topology)
  found: dict[str, list[int]] = {}
  for index, device in enumerate(topology.devices):
    found.setdefault(_key(device, index, layout), []).append(index)
  return tuple(
    DeviceClass(
      key,
      tuple(members),
      _layout(topology.devices[members[0]], members[0], layout),
      f'{_LOCAL}/device:{topology.devices[members[0]].type}:0',
    )
    for key, members in found.items()
  )


def _key(
  device: device_lib.Device, index: int, layout: layout_lib.ProcessLayout
) -> str:
  if device.type != 'CPU':
    return f'{device.type} {device.description}'
  cores = layout.worker_cores[index] if layout.worker_cores else ()
  count = len(cores or layout.host_cores)
  return f'CPU {cores_lib.cpu_model()}, {count} cores'


def _layout(
  device: device_lib.Device, index: int, layout: layout_lib.ProcessLayout
) -> layout_lib.ProcessLayout:
  if device.type == 'CPU' and layout.worker_cores:
    return layout_lib.ProcessLayout(host_cores=layout.worker_cores[index])
  return layout_lib.ProcessLayout(
    host_cores=layout.host_cores,
    gpus=layout.gpus if device.type == 'GPU' else 0,
  )
