"""Discovery: the devices TensorFlow sees on this machine.

Asked of a child process (`list_devices.py`), since looking at GPUs initialises
them for good, and the user's process is never touched (DESIGN §3.16).
"""

import functools
import json
import os
import subprocess
import sys

from placer.core import device as device_lib
from placer.core import errors
from placer.devices import cores as cores_lib

_TIMEOUT_SECONDS = 180.0


@functools.cache
def discover() -> tuple[device_lib.Device, ...]:
  """The devices of a TensorFlow process here: GPUs first, then the CPU.

  Returns:
    Devices with full names; a GPU's memory_bytes is what TensorFlow can use.

  Raises:
    UsageError: TensorFlow does not start.
  """
  environment = dict(os.environ)
  environment['PYTHONPATH'] = os.pathsep.join(
    os.path.abspath(path or '.') for path in sys.path
  )
  environment.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
  try:
    run = subprocess.run(
      [sys.executable, '-m', 'placer.devices.list_devices'],
      stdin=subprocess.DEVNULL,
      capture_output=True,
      timeout=_TIMEOUT_SECONDS,
      env=environment,
      check=True,
    )
    found = json.loads(run.stdout.splitlines()[-1])
  except (subprocess.SubprocessError, ValueError, IndexError) as error:
    output = getattr(error, 'stderr', None) or b''
    raise errors.UsageError(
      'TensorFlow does not start in a new process, so --devices cannot be '
      f'found: {error}. {output.decode("utf-8", "replace")[-500:]}'
    ) from error
  return order(found, cores_lib.usable(), cores_lib.cpu_model())


def order(
  found: list[dict[str, str | int | None]],
  cores: tuple[int, ...],
  cpu_model: str,
) -> tuple[device_lib.Device, ...]:
  """Makes Devices of what the child saw.

  Args:
    found: dicts with 'name', 'memory_bytes' and 'description'.
    cores: the cores of the CPU device.
    cpu_model: its model name.

  Returns:
    GPUs first, by index, then the CPU.
  """
  devices = []
  for entry in found:
    is_cpu = device_lib.parse(entry['name'])['type'] == 'CPU'
    cpu = f'{len(cores)} cores of {cpu_model}' if cpu_model else ''
    devices.append(
      device_lib.Device(
        device_lib.canonical(entry['name']),
        memory_bytes=None if is_cpu else entry['memory_bytes'],
        description=cpu if is_cpu else entry['description'],
      )
    )
  return tuple(
    sorted(devices, key=lambda device: (device.type == 'CPU', device.name))
  )
