"""Target: from the text of `--devices` to a DeviceTopology.

    topology = target.resolve('local:2', memory_limit='2GiB')
    layout = target.layout(topology)

The forms are the files of `kinds/`.
"""

from placer.core import device as device_lib
from placer.core import errors
from placer.devices import cores as cores_lib
from placer.devices import layout as layout_lib
from placer.devices import memory_limit as memory_limit_lib
from placer.devices.kinds import registry


def resolve(spec: str, *, memory_limit: str = '') -> device_lib.DeviceTopology:
  """The devices that `spec` means on this machine.

  Args:
    spec: 'auto', 'local:2', 'logical:4', 'CPU:0,GPU:0' ...
    memory_limit: '' for none, '2GiB' for each device, or
      'CPU:0=2GiB,CPU:1=512MiB'.

  Returns:
    The topology; its links are not measured.

  Raises:
    UsageError: not a form, or this machine lacks the devices.
  """
  spec = spec.strip()
  return memory_limit_lib.apply(_kind(spec).resolve(spec), memory_limit)


def layout(topology: device_lib.DeviceTopology) -> layout_lib.ProcessLayout:
  """The processes in which the devices of a resolved topology live.

  Args:
    topology: what `resolve` gave, links and limits changed or not.

  Returns:
    The layout.

  Raises:
    UsageError: the topology's spec is not a form, or its devices are
      simulated and live in no process.
  """
  return _kind(topology.spec).layout(topology)


def nothing_to_place(topology: device_lib.DeviceTopology) -> str:
  """What to tell a user who has one device only, '' for several.

  Args:
    topology: what `resolve` gave.

  Returns:
    A sentence with the choices, or ''.
  """
  if len(topology) > 1:
    return ''
  cores = len(cores_lib.usable())
  workers = (
    f'--devices=local:{cores} makes {cores} worker processes on a core each, '
    if cores > 1
    else ''
  )
  return (
    f'--devices={topology.spec} has one device, {topology.names[0]}, so '
    f'there is nothing to place. Choices: {workers}--devices=logical:2 tests '
    'correctness with logical devices, and on a machine with GPUs '
    '--devices=auto takes them all.'
  )


def _kind(spec: str):
  kind = registry.find(spec) if spec else None
  if kind is None:
    raise errors.UsageError(
      f'--devices={spec} is not understood. Forms: {registry.forms()}.'
    )
  return kind
