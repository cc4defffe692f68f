"""`auto`: the GPUs and the CPU that TensorFlow sees."""

from placer.core import device as device_lib
from placer.devices import cores as cores_lib
from placer.devices import discovery
from placer.devices import layout as layout_lib
from placer.devices.kinds import base


class AllDevices(base.DeviceKind):
  """All devices of one TensorFlow process."""

  form = 'auto'
  summary = 'the GPUs and the CPU that TensorFlow sees'

  def matches(self, spec: str) -> bool:
    """Whether `spec` is 'auto'."""
    return spec == 'auto'

  def resolve(self, spec: str) -> device_lib.DeviceTopology:
    """What TensorFlow sees.

    Args:
      spec: 'auto'.

    Returns:
      A topology; it may have one device only, see `nothing_to_place`.

    Raises:
      UsageError: TensorFlow does not start.
    """
    devices = discovery.discover()
    return device_lib.DeviceTopology(
      spec=spec, devices=devices, stands_for=stands_for(devices)
    )

  def layout(
    self, topology: device_lib.DeviceTopology
  ) -> layout_lib.ProcessLayout:
    """All devices in the measuring process."""
    return one_process(topology)


def stands_for(devices: tuple[device_lib.Device, ...]) -> str:
  """A sentence for reports: 'the 2 GPUs and the CPU of this machine'."""
  gpus = sum(device.type == 'GPU' for device in devices)
  parts = []
  if gpus:
    parts.append(f'{gpus} GPU{"s" if gpus > 1 else ""}')
  if len(devices) > gpus:
    parts.append('the CPU')
  return f'{" and ".join(parts)} of this machine, in one process.'


def one_process(
  topology: device_lib.DeviceTopology,
) -> layout_lib.ProcessLayout:
  """The layout of devices that TensorFlow found itself.

  Args:
    topology: devices of one process, GPUs or the CPU.

  Returns:
    The layout. A limit is enforced only where it is below what the device
    has: TensorFlow would set memory aside that may not be free.
  """
  whole = {device.name: device.memory_bytes for device in discovery.discover()}
  any_gpu = any(device.type == 'GPU' for device in topology.devices)
  return layout_lib.ProcessLayout(
    gpus=sum('device:GPU:' in name for name in whole) if any_gpu else 0,
    host_cores=cores_lib.usable(),
    memory_limits={
      device.name: device.memory_bytes
      for device in topology.devices
      if device.memory_bytes is not None
      and device.memory_bytes != whole.get(device.name)
    },
  )
