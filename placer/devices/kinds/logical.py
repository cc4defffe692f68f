"""`logical:N`: N logical CPU devices of one process; correctness only.

They share one thread pool, so that their times mean nothing (DESIGN §3.11).
"""

import re

from placer.core import device as device_lib
from placer.core import errors
from placer.devices import cores as cores_lib
from placer.devices import layout as layout_lib
from placer.devices.kinds import base

_MOST = 64


class LogicalDevices(base.DeviceKind):
  """N logical CPU devices in one process."""

  form = 'logical:N'
  summary = 'N logical CPU devices in one process, correctness only'

  def matches(self, spec: str) -> bool:
    """Whether `spec` begins with 'logical'."""
    return re.match(r'logical(:|$)', spec) is not None

  def resolve(self, spec: str) -> device_lib.DeviceTopology:
    """N CPU devices of one process.

    Args:
      spec: 'logical:4'.

    Returns:
      A topology whose timing is not meaningful.

    Raises:
      UsageError: no number from 1 to 64.
    """
    match = re.fullmatch(r'logical:(\d+)', spec)
    count = int(match.group(1)) if match else 0
    if not 1 <= count <= _MOST:
      raise errors.UsageError(
        f'--devices={spec}: N in logical:N must be 1..{_MOST}, for example '
        'logical:2.'
      )
    return device_lib.DeviceTopology(
      spec=spec,
      devices=tuple(
        device_lib.Device(
          f'/job:localhost/replica:0/task:0/device:CPU:{i}',
          description='logical device, correctness only',
        )
        for i in range(count)
      ),
      stands_for=(
        f'{count} logical CPU devices of one process. They share its '
        'threads: correctness only, times say nothing.'
      ),
      timing_is_meaningful=False,
    )

  def layout(
    self, topology: device_lib.DeviceTopology
  ) -> layout_lib.ProcessLayout:
    """All devices in the measuring process."""
    return layout_lib.ProcessLayout(
      logical_cpus=len(topology),
      host_cores=cores_lib.usable(),
      memory_limits={
        device.name: device.memory_bytes
        for device in topology.devices
        if device.memory_bytes is not None
      },
    )
