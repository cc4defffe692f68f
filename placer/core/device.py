"""Devices, the links between them, and the topology of both.

`Device`: one place where ops can run.
  name: full canonical name, '/job:J/replica:R/task:T/device:TYPE:I'.
  memory_bytes: the limit placements must keep, or None where there is none.
  description: for people: model name, cores.

`Link`: what moving a tensor from one device to another costs,
seconds = latency_seconds + bytes / bytes_per_second.
  source, target: indices into the topology's devices.
  samples: ((bytes, seconds), ...) as measured; empty if it was not.

`DeviceTopology`: what a user's `--devices` means.
  spec: the flag's text, 'local:2'.
  devices: D devices; the order is the order of placement columns.
  links: one for each ordered pair of different devices, or () before they are
    measured.
  stands_for: a sentence for reports that says what the devices really are
    ('worker processes pinned to disjoint cores of one host ...').
  timing_is_meaningful: False where devices share their cores, so that times
    test correctness only (`logical:N`).
  is_simulated: True where nothing is run and every time is that of a model
    (`simulated:…`); `stands_for` says so for people.

All are frozen; device names are unique. The index of a device is its column
in every array of shape `[..., D]`.
"""

import dataclasses
import functools
import hashlib
import json
import re

from placer.core import errors

_SPEC = re.compile(
  r'^(?:/job:(?P<job>[A-Za-z_][A-Za-z0-9_]*))?'
  r'(?:/replica:(?P<replica>\d+))?'
  r'(?:/task:(?P<task>\d+))?'
  r'(?:/?(?:device:)?(?!job|replica|task)(?P<type>[A-Za-z][A-Za-z0-9_]*?):?(?P<index>\d+|\*)?)?$'
)


@dataclasses.dataclass(frozen=True)
class Device:
  """One device; see the module docstring."""

  name: str
  memory_bytes: int | None = None
  description: str = ''

  @functools.cached_property
  def type(self) -> str:
    """The device type, upper case: 'CPU', 'GPU'."""
    return self.name.rsplit('device:', 1)[-1].split(':')[0].upper()

  @property
  def short_name(self) -> str:
    """The name without what is the same nearly everywhere (replica)."""
    return self.name.replace('/replica:0', '')


@dataclasses.dataclass(frozen=True)
class Link:
  """The cost of moving bytes from one device to another.

  Attributes:
    source: index of the device they leave.
    target: index of the device they go to.
    latency_seconds: of a message without bytes.
    bytes_per_second: rate beside that.
    samples: (bytes, seconds) that were measured.
    load_seconds: how long a message keeps each of the two devices busy, within
      the time that it takes.
    load_seconds_per_byte: how much more for each of its bytes.
  """

  source: int
  target: int
  latency_seconds: float
  bytes_per_second: float
  samples: tuple[tuple[int, float], ...] = ()
  load_seconds: float = 0.0
  load_seconds_per_byte: float = 0.0

  def seconds(self, size_bytes: float) -> float:
    """The time to move `size_bytes` over this link, in seconds."""
    return self.latency_seconds + size_bytes / self.bytes_per_second


@dataclasses.dataclass(frozen=True)
class DeviceTopology:
  """The devices of one search and their links; see the module docstring."""

  spec: str
  devices: tuple[Device, ...]
  links: tuple[Link, ...] = ()
  stands_for: str = ''
  timing_is_meaningful: bool = True
  is_simulated: bool = False

  def __post_init__(self) -> None:
    names = [device.name for device in self.devices]
    if not names:
      raise errors.UsageError(f'--devices={self.spec} names no device.')
    if len(set(names)) != len(names):
      raise errors.UsageError(
        f'--devices={self.spec} names a device twice: {", ".join(names)}.'
      )

  def __len__(self) -> int:
    return len(self.devices)

  @property
  def names(self) -> tuple[str, ...]:
    """The full names of the D devices."""
    return tuple(device.name for device in self.devices)

  @property
  def fingerprint(self) -> str:
    """A hash of what decides which placements are legal and how they run."""
    payload = [self.spec] + [
      [device.name, device.memory_bytes, device.description]
      for device in self.devices
    ]
    return hashlib.sha256(json.dumps(payload).encode()).hexdigest()[:16]

  def index(self, name: str) -> int:
    """The column of the device that `name` means, in any of its forms.

    Args:
      name: '/job:worker/task:1', '/cpu:0', 'CPU:0', 'gpu0', a full name ...

    Returns:
      The index of the one device that matches.

    Raises:
      UsageError: no device or several match; the message has the choices.
    """
    matches = [
      i for i, device in enumerate(self.devices) if _matches(device.name, name)
    ]
    if len(matches) == 1:
      return matches[0]
    what = 'matches several devices' if matches else 'is not a device'
    raise errors.UsageError(
      f'{name!r} {what} of --devices={self.spec}. It has: '
      f'{", ".join(self.names)}.'
    )


def parse(name: str) -> dict[str, str | int | None]:
  """The parts of a device name, each None where the name leaves it open.

  Args:
    name: any form TensorFlow's users write: '/job:ps/task:1', '/cpu:0',
      'CPU:0', 'gpu0', '/device:CPU:*', a full name.

  Returns:
    A dict with keys job, replica, task, type (upper case) and index.

  Raises:
    UsageError: `name` is not a device name; the message shows the forms.
  """
  text = name.strip()
  match = _SPEC.match(text)
  if not text or match is None:
    raise errors.UsageError(
      f'{name!r} is not a device name. Write it as one of: CPU:0, gpu:1, '
      '/device:GPU:0, /job:worker/task:1, '
      '/job:worker/replica:0/task:1/device:CPU:0.'
    )
  parts = match.groupdict()
  return {
    'job': parts['job'],
    'replica': _int_or_none(parts['replica']),
    'task': _int_or_none(parts['task']),
    'type': parts['type'].upper() if parts['type'] else None,
    'index': _int_or_none(parts['index']),
  }


def canonical(
  name: str, *, job: str = 'localhost', replica: int = 0, task: int = 0
) -> str:
  """The full name of a device, its open parts filled in.

  Args:
    name: a device name in any form `parse` takes.
    job: the job if `name` has none.
    replica: the replica if `name` has none.
    task: the task if `name` has none.

  Returns:
    '/job:J/replica:R/task:T/device:TYPE:I'; type CPU and index 0 by default.

  Raises:
    UsageError: `name` is not a device name.
  """
  parts = parse(name)
  filled = {
    key: default if parts[key] is None else parts[key]
    for key, default in (
      ('job', job),
      ('replica', replica),
      ('task', task),
      ('type', 'CPU'),
      ('index', 0),
    )
  }
  return (
    '/job:{job}/replica:{replica}/task:{task}/device:{type}:{index}'.format(
      **filled
    )
  )


def _matches(full_name: str, wanted: str) -> bool:
  full, parts = parse(full_name), parse(wanted)
  return all(
    value is None or full[key] == value for key, value in parts.items()
  )


def _int_or_none(text: str | None) -> int | None:
  return int(text) if text not in (None, '*') else None
