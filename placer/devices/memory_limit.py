"""The text of `--memory_limit`: '2GiB', or 'CPU:0=2GiB,CPU:1=512MiB'."""

import dataclasses
import re

from placer.core import device as device_lib
from placer.core import errors

_SIZE = re.compile(r'^(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?$', re.IGNORECASE)
_EXPONENT = {'': 0, 'k': 1, 'm': 2, 'g': 3, 't': 4}


def parse_size(text: str) -> int:
  """Reads a number of bytes.

  Args:
    text: '2GiB', '512MB', '1.5g', '1000000'. Letters with 'i', or without
      'b', are powers of 1024; 'GB' is 10^9.

  Returns:
    Bytes, at least 1.

  Raises:
    UsageError: not a size, or zero.
  """
  match = _SIZE.match(text.strip())
  if match:
    number, letter, binary = match.groups()
    decimal = not binary and text.strip()[-1] in 'bB'
    base = 1000 if decimal else 1024
    size = int(float(number) * base ** _EXPONENT[letter.lower()])
    if 0 < size < 1 << 62:
      return size
  raise errors.UsageError(
    f'{text!r} is not an amount of memory. Write it as 2GiB, 512MiB, 1.5GB '
    'or a number of bytes, or for each device as CPU:0=2GiB,CPU:1=512MiB.'
  )


def apply(
  topology: device_lib.DeviceTopology, text: str
) -> device_lib.DeviceTopology:
  """Returns the topology with memory limits on its devices.

  Args:
    topology: the devices.
    text: '' for no limits, one size for each device, or DEVICE=SIZE pairs
      with commas between; a device in any form its topology understands.

  Returns:
    A new topology; devices without a limit keep what they had.

  Raises:
    UsageError: not a size, or no such device.
  """
  if not text.strip():
    return topology
  limits: dict[int, int] = {}
  if '=' not in text:
    size = parse_size(text)
    limits = dict.fromkeys(range(len(topology)), size)
  else:
    for part in text.split(','):
      name, _, size_text = part.partition('=')
      limits[topology.index(name)] = parse_size(size_text)
  devices = tuple(
    dataclasses.replace(device, memory_bytes=limits[i])
    if i in limits
    else device
    for i, device in enumerate(topology.devices)
  )
  return dataclasses.replace(topology, devices=devices)
