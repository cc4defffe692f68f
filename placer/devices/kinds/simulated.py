"""`simulated:KINDxN`: devices that need not exist; nothing is run.

    simulated:k80x4, simulated:v100x2+cpu_core, simulated:my_machine.json

What may be written, and what a file may have, is told by
`placer/simulation/simulated_devices.py`. A file is looked for where the user
is. The times of such devices are those of a model, so they live in no process.
"""

import re

from placer.core import device as device_lib
from placer.core import errors
from placer.devices import layout as layout_lib
from placer.devices.kinds import base
from placer.simulation import simulated_devices


class SimulatedKind(base.DeviceKind):
  """Devices of which there are descriptions only."""

  form = 'simulated:v100x4'
  summary = 'described devices, on which nothing is run and times are predicted'

  def matches(self, spec: str) -> bool:
    """Whether `spec` begins with 'simulated'."""
    return re.match(r'simulated(:|$)', spec) is not None

  def resolve(self, spec: str) -> device_lib.DeviceTopology:
    """The described devices.

    Args:
      spec: 'simulated:k80x4'.

    Returns:
      A simulated topology; unlike others it has its links and the memory of
      its devices.

    Raises:
      UsageError: there is no such device, or a file has a mistake.
    """
    return simulated_devices.parse(spec).topology()

  def layout(
    self, topology: device_lib.DeviceTopology
  ) -> layout_lib.ProcessLayout:
    """Always raises, since simulated devices live in no process.

    Args:
      topology: what `resolve` gave.

    Raises:
      UsageError: always.
    """
    raise errors.UsageError(
      f'--devices={topology.spec} is simulated, so nothing can be run on it. '
      'Pass --devices=auto or --devices=local:2 to run a graph.'
    )
