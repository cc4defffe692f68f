"""Device names: 'CPU:0,GPU:1', '/gpu:0', '/device:GPU:0'."""

from placer.core import device as device_lib
from placer.core import errors
from placer.devices import discovery
from placer.devices import layout as layout_lib
from placer.devices.kinds import auto
from placer.devices.kinds import base

_TYPES = ('CPU', 'GPU', 'TPU')


class NamedDevices(base.DeviceKind):
  """Some of the devices that TensorFlow sees, by name."""

  form = 'CPU:0,GPU:0'
  summary = 'names of devices, with commas between'
  priority = 1

  def matches(self, spec: str) -> bool:
    """Whether each part of `spec` names a device type or a job."""
    try:
      parts = [device_lib.parse(part) for part in spec.split(',')]
    except errors.UsageError:
      return False
    return all(part['type'] in _TYPES or part['job'] for part in parts)

  def resolve(self, spec: str) -> device_lib.DeviceTopology:
    """The named devices, in the order given.

    Args:
      spec: names in any form, with commas between.

    Returns:
      A topology.

    Raises:
      UsageError: a device does not exist; the message lists those that do.
    """
    existing = {device.name: device for device in discovery.discover()}
    names = [device_lib.canonical(part) for part in spec.split(',')]
    for text, name in zip(spec.split(','), names, strict=True):
      if name not in existing:
        raise errors.UsageError(
          f'--devices={spec}: there is no device {text.strip()!r} ({name}). '
          f'TensorFlow sees {", ".join(existing)} here. Other forms: local:N '
          'for N worker processes on cores of their own, logical:N for N '
          'logical CPU devices where only correctness matters.'
        )
    devices = tuple(existing[name] for name in names)
    return device_lib.DeviceTopology(
      spec=spec, devices=devices, stands_for=auto.stands_for(devices)
    )

  def layout(
    self, topology: device_lib.DeviceTopology
  ) -> layout_lib.ProcessLayout:
    """All devices in the measuring process."""
    return auto.one_process(topology)
