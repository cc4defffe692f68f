"""The devices of this process, and what to do where a placement's are not here.

A placed function runs in the user's process, so each device that it uses must
exist there. Which do is decided when TensorFlow starts: GPUs are found,
logical CPUs are asked for before the first op, and tasks of a cluster are
connected to. placer changes none of that. The workers of `local:N` live in a
network namespace of their own, since a TensorFlow server obeys anyone who
reaches it (DESIGN §3.14), so no user's process can connect to them: for these a
search gives a placement to be used elsewhere.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from tensorflow.python.eager import context

from placer.core import device as device_lib
from placer.core import errors
from placer.core import placement as placement_lib

_LOGICAL = (
  "cpu = tf.config.list_physical_devices('CPU')[0]; "
  'tf.config.set_logical_device_configuration(cpu, '
  '[tf.config.LogicalDeviceConfiguration()] * {count})'
)


class DevicesElsewhereError(errors.PlacerError):
  """A placement was found, for devices that this process does not have.

  Attributes:
    placement: the Placement that was found.
    path: the file that it was written to.
  """

  def __init__(
    self, message: str, placement: placement_lib.Placement, path: str
  ) -> None:
    super().__init__(message)
    self.placement = placement
    self.path = path


def full_names() -> tuple[str, ...]:
  """The devices of this process, of a cluster it is connected to, too.

  Starts TensorFlow, as calling any function would.

  Returns:
    '/job:…/device:CPU:0', ….
  """
  context.ensure_initialized()
  return tuple(context.context().devices())


def missing(wanted: Iterable[str]) -> tuple[str, ...]:
  """Which of these devices this process does not have.

  Args:
    wanted: full names.

  Returns:
    Those that are missing, each once.
  """
  there = set(full_names())
  return tuple(name for name in dict.fromkeys(wanted) if name not in there)


def check(topology: device_lib.DeviceTopology) -> None:
  """Refuses devices that this process lacks and could have had.

  Args:
    topology: what `devices=` means. Workers of `local:N` pass, since the
      placement found on them can be used elsewhere.

  Raises:
    UsageError: a device is missing; the message says what to call, and when.
  """
  if topology.is_simulated:
    raise errors.UsageError(
      f'devices={topology.spec!r} is simulated, so no function can run on it. '
      'Pass devices that this process has '
      f'({", ".join(full_names())}), or plan the graph with `placer place '
      '--graph=SAVED_MODEL`.'
    )
  absent = missing(topology.names)
  if not absent or is_elsewhere(topology):
    return
  message = (
    f'This process has no {", ".join(absent)} (devices={topology.spec!r}). It '
    f'has {", ".join(full_names())}. '
  )
  if topology.spec.startswith('logical'):
    message += (
      'Logical devices must be asked for before TensorFlow runs its first op: '
      f'{_LOGICAL.format(count=len(topology))}.'
    )
  else:
    message += (
      'Make it visible before TensorFlow starts '
      '(tf.config.set_visible_devices, CUDA_VISIBLE_DEVICES), or pass '
      'devices= with those that are there.'
    )
  raise errors.UsageError(message)


def in_this_process(
  placement: placement_lib.Placement,
  device_names: Mapping[str, str] | None,
  name: str,
) -> placement_lib.Placement:
  """A placement with full names of devices that are here.

  Args:
    placement: with any names of devices.
    device_names: {device in the placement: device to use instead}, or None.
    name: of the function.

  Returns:
    The Placement.

  Raises:
    UsageError: a device is not here, or `device_names` leaves one out.
  """
  used = sorted(set(placement.devices.values()))
  if device_names is not None and (left_out := set(used) - set(device_names)):
    raise errors.UsageError(
      f'device_names says nothing of {", ".join(sorted(left_out))}, which the '
      'placement uses.'
    )
  full = {
    device: device_lib.canonical((device_names or {}).get(device, device))
    for device in used
  }
  if absent := missing(full.values()):
    raise errors.UsageError(
      f'The placement for {name} uses {", ".join(absent)}; this process has '
      f'{", ".join(full_names())}. Say with device_names={{{used[0]!r}: ...}} '
      'which device to use instead of which.'
    )
  return dataclasses.replace(
    placement,
    devices={op: full[device] for op, device in placement.devices.items()},
  )


def is_elsewhere(topology: device_lib.DeviceTopology) -> bool:
  """Whether these are workers that this process is not connected to."""
  return topology.spec.startswith('local') and bool(missing(topology.names))


def elsewhere(
  name: str,
  topology: device_lib.DeviceTopology,
  placement: placement_lib.Placement,
  path: str,
) -> DevicesElsewhereError:
  """What to tell about a placement for devices that are not here.

  Args:
    name: of the function.
    topology: on which it was found.
    placement: what was found.
    path: the file it was written to.

  Returns:
    The error, to be raised.
  """
  used = sorted(set(placement.devices.values()))
  example = ', '.join(f'{device!r}: …' for device in used[:2])
  return DevicesElsewhereError(
    f'A placement of {name} was found on devices={topology.spec!r} and written '
    f'to {path}, but it cannot run in this process: {", ".join(used)} are '
    'workers in a network namespace of their own, since a TensorFlow server '
    'obeys anyone who reaches it, and this process cannot connect to them. '
    'What to do: (1) on the hosts or sockets that the workers stand for, '
    'connect to the cluster whose job is "worker" '
    '(tf.config.experimental_connect_to_cluster) and call '
    f'placer.apply_placement({name}, placer.load_placement({path!r})); or (2) '
    'use it on devices that this process has, with device_names={'
    + example
    + '}; or (3) run without a placement here: on one socket, one process with '
    'all cores is usually the fastest.',
    placement,
    path,
  )
