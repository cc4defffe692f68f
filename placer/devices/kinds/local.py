"""`local:N`: N worker processes of this host, on disjoint cores.

On a host without accelerators, logical CPU devices share one thread pool and
say nothing about speed; worker processes that are pinned to cores do (DESIGN
§3.11). They stand in for hosts or sockets, so reports must say so.
"""

import re

from placer.core import device as device_lib
from placer.core import errors
from placer.devices import cores as cores_lib
from placer.devices import layout as layout_lib
from placer.devices.kinds import base


class LocalWorkers(base.DeviceKind):
  """N pinned worker processes."""

  form = 'local:N'
  summary = 'N worker processes on disjoint cores of this host'

  def matches(self, spec: str) -> bool:
    """Whether `spec` begins with 'local'."""
    return re.match(r'local(:|$)', spec) is not None

  def resolve(self, spec: str) -> device_lib.DeviceTopology:
    """The N workers' CPU devices.

    Args:
      spec: 'local:2'.

    Returns:
      A topology of N devices, the description of each names its cores.

    Raises:
      UsageError: no number, or more workers than cores.
    """
    cores = cores_lib.usable()
    match = re.fullmatch(r'local:(\d+)', spec)
    workers = int(match.group(1)) if match else 0
    choices = ', '.join(f'local:{n}' for n in _choices(len(cores)))
    if not 1 <= workers <= len(cores):
      raise errors.UsageError(
        f'--devices={spec}: N in local:N must be 1..{len(cores)}, since '
        'each worker needs a core of its own and this process may use '
        f'{len(cores)}. Pass one of: {choices}; or logical:N for any '
        'number of devices where only correctness matters.'
      )
    sets = cores_lib.share(cores_lib.numa_nodes(cores), workers)
    model = cores_lib.cpu_model()
    return device_lib.DeviceTopology(
      spec=spec,
      devices=tuple(
        device_lib.Device(
          f'/job:worker/replica:0/task:{i}/device:CPU:0',
          description=_description(members, model),
        )
        for i, members in enumerate(sets)
      ),
      stands_for=_stands_for(sets, cores),
    )

  def layout(
    self, topology: device_lib.DeviceTopology
  ) -> layout_lib.ProcessLayout:
    """One worker process a device."""
    cores = cores_lib.usable()
    return layout_lib.ProcessLayout(
      worker_cores=cores_lib.share(cores_lib.numa_nodes(cores), len(topology)),
      host_cores=cores,
      memory_limits={
        device.name: device.memory_bytes
        for device in topology.devices
        if device.memory_bytes is not None
      },
    )


def _choices(cores: int) -> list[int]:
  powers = [n for n in (1, 2, 4, 8, 16, 32, 64, 128) if n < cores]
  return powers + [cores]


def _description(members: tuple[int, ...], model: str) -> str:
  noun = 'core' if len(members) == 1 else 'cores'
  listed = ','.join(str(core) for core in members)
  return f'worker process on {noun} {listed}' + (
    f' of {model}' if model else ''
  )


def _stands_for(
  sets: tuple[tuple[int, ...], ...], cores: tuple[int, ...]
) -> str:
  nodes = len(cores_lib.numa_nodes(cores))
  many = len(sets) > 1
  return (
    f'{len(sets)} worker process{"es" if many else ""} pinned to disjoint '
    f'cores of one host with {nodes} NUMA node{"s" if nodes > 1 else ""}. '
    f'They stand for {len(sets)} hosts or sockets with {len(sets[0])} '
    f'core{"s" if len(sets[0]) > 1 else ""} each and a loopback network; '
    'one process with all cores (the whole-host reference) is often faster '
    'on one socket.'
  )
