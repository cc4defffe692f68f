"""SimulatedDevices: what `--devices=simulated:…` means.

    simulated:k80x4                 four K80 GPUs
    simulated:k80x2+cpu_core        two, and a CPU core
    simulated:/path/device.json     a device of your own (device_description.py)
    simulated:/path/device.jsonx4   four of them
    simulated:/path/machine.json    devices and links of your own:

    {"devices": [{"device": "v100", "count": 2},
                 {"device": {"device_type": "CPU", ...}}],
     "links": [{"source": 0, "target": 1, "bytes_per_second": 2.5e10, ...}]}

A device there is a name, or a description in place. `links` is optional and
replaces single links, in one direction each; 0 is the first device.

The link between two devices of one kind is their `peer_link`, if they have
one; that between a CPU and another device is the other's `host_link`; any
others are connected through the host by both their `host_link`s.

  spec: the text of the flag.
  descriptions: D DeviceDescriptions; GPUs are named '/job:localhost/replica:0/
    task:0/device:GPU:I' in order, CPUs likewise.
  links: D x D LinkDescriptions, None on the diagonal.
"""

import dataclasses
import json
import os
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from placer.core import device as device_lib
from placer.core import errors
from placer.core import link_costs
from placer.simulation import device_description

PREFIX = 'simulated:'
_MOST = 1024
_FORMS = (
  'simulated:k80x4, simulated:k80x2+cpu_core or simulated:/path/file.json'
)
_Link = device_description.LinkDescription


@dataclasses.dataclass(frozen=True)
class SimulatedDevices:
  """Devices that are only simulated; see the module docstring."""

  spec: str
  descriptions: tuple[device_description.DeviceDescription, ...]
  links: tuple[tuple[_Link | None, ...], ...]

  def topology(self) -> device_lib.DeviceTopology:
    """The DeviceTopology, with links and memory limits."""
    devices, counts = [], {'CPU': 0, 'GPU': 0}
    for kind in self.descriptions:
      index = counts[kind.device_type]
      counts[kind.device_type] += 1
      devices.append(
        device_lib.Device(
          f'/job:localhost/replica:0/task:0/device:{kind.device_type}:{index}',
          memory_bytes=kind.memory_bytes,
          description=f'simulated: {kind.summary or kind.name}',
        )
      )
    return device_lib.DeviceTopology(
      spec=self.spec,
      devices=tuple(devices),
      links=tuple(
        device_lib.Link(
          source,
          target,
          link.latency_seconds + link.message_seconds,
          link.bytes_per_second,
        )
        for source, row in enumerate(self.links)
        for target, link in enumerate(row)
        if link is not None
      ),
      stands_for=(
        f'{len(devices)} simulated device{"s" if len(devices) > 1 else ""}: '
        'every time is the result of a model, nothing was run.'
      ),
      is_simulated=True,
    )

  def device_link_costs(self) -> link_costs.LinkCosts:
    """The LinkCosts of tensors in the memory of the devices."""
    return _link_costs(self.links)

  def host_link_costs(self) -> link_costs.LinkCosts:
    """Those of tensors in host memory: free where both share a host.

    CPUs are processes of their own; the host of a GPU is that of all others.
    """
    types = [kind.device_type for kind in self.descriptions]
    free = _Link(bytes_per_second=float('inf'))
    return _link_costs(
      tuple(
        tuple(
          link if link is None or types[i] == types[j] == 'CPU' else free
          for j, link in enumerate(row)
        )
        for i, row in enumerate(self.links)
      )
    )


def parse(spec: str) -> SimulatedDevices:
  """The devices that a text means.

  Args:
    spec: 'simulated:k80x4'.

  Returns:
    The SimulatedDevices.

  Raises:
    UsageError: not such a text, no such device, or a file with a mistake; the
      message has the choices.
  """
  if not spec.startswith(PREFIX) or not spec[len(PREFIX) :].strip():
    raise errors.UsageError(
      f'--devices={spec} names no simulated devices. Write it as {_FORMS}.'
    )
  kinds: list[device_description.DeviceDescription] = []
  links: list[Mapping[str, Any]] = []
  for part in spec[len(PREFIX) :].split('+'):
    found, own = _part(part.strip(), spec)
    shift = len(kinds)
    kinds += found
    for link in own:
      moved = {key: link[key] + shift for key in ('source', 'target')}
      links.append({**link, **moved})
  if len(kinds) > _MOST:
    raise errors.UsageError(
      f'--devices={spec} has {len(kinds)} devices; at most {_MOST} can be '
      'simulated.'
    )
  connected = connect(spec, kinds)
  table = [list(row) for row in connected.links]
  for link in links:
    fields = {k: v for k, v in link.items() if k not in ('source', 'target')}
    table[link['source']][link['target']] = device_description.link_from_json(
      fields, f'--devices={spec}, a link'
    )
  return dataclasses.replace(connected, links=tuple(map(tuple, table)))


def connect(
  spec: str, kinds: Sequence[device_description.DeviceDescription]
) -> SimulatedDevices:
  """Devices with the links that their descriptions have.

  Args:
    spec: what `--devices` was.
    kinds: D descriptions.

  Returns:
    The SimulatedDevices.
  """
  table = tuple(
    tuple(None if i == j else _between(a, b) for j, b in enumerate(kinds))
    for i, a in enumerate(kinds)
  )
  return SimulatedDevices(spec, tuple(kinds), table)


def _part(part: str, spec: str):
  """The descriptions of one part, and the links that its file gives."""
  match = re.fullmatch(r'(?P<name>.+?)(?:x(?P<count>\d+))?', part)
  count = int(match['count'] or 1) if match else 0
  if not 1 <= count <= _MOST:
    raise errors.UsageError(
      f'--devices={spec}: {part!r} is not a device and a number from 1 to '
      f'{_MOST}. Write it as {_FORMS}.'
    )
  name = match['name']
  if not name.endswith('.json'):
    return [device_description.load(name)] * count, []
  payload = _read(name)
  if isinstance(payload, dict) and 'devices' in payload:
    if count > 1:
      raise errors.UsageError(
        f'--devices={spec}: {name} describes a whole machine, which cannot be '
        'taken several times. Put the devices into one file.'
      )
    return _machine(payload, name)
  kind = device_description.from_json(payload, pathlib.Path(name).stem)
  return [kind] * count, []


def _read(name: str) -> Any:
  # Under `bazel run` the working folder is not the user's.
  file = pathlib.Path(
    os.environ.get('BUILD_WORKING_DIRECTORY', ''), os.path.expanduser(name)
  )
  try:
    return json.loads(file.read_text(encoding='utf-8'))
  except OSError as error:
    raise errors.UsageError(
      f'Cannot read the device file {name!r}: {error.strerror}. Kinds without '
      f'a file are: {", ".join(device_description.names())}.'
    ) from error
  except ValueError as error:
    raise errors.UsageError(
      f'The device file {name!r} is not JSON: {error}.'
    ) from error


def _machine(payload: Mapping[str, Any], name: str):
  unknown = sorted(set(payload) - {'devices', 'links'})
  if unknown:
    raise errors.UsageError(
      f'{name} has the unknown key {unknown[0]!r}; it may have devices, links.'
    )
  kinds: list[device_description.DeviceDescription] = []
  for i, entry in enumerate(payload['devices']):
    where = f'{name}, devices[{i}]'
    if not isinstance(entry, dict) or set(entry) - {'device', 'count'}:
      raise errors.UsageError(
        f'{where} is {entry!r}, but has to be like '
        '{"device": "k80", "count": 2}.'
      )
    device, count = entry.get('device'), entry.get('count', 1)
    if type(count) is not int or not 1 <= count <= _MOST:
      raise errors.UsageError(
        f'{where}: count is {count!r}, but has to be from 1 to {_MOST}.'
      )
    if isinstance(device, str):
      kinds += [device_description.load(device)] * count
    else:
      kinds += [device_description.from_json(device, where)] * count
  links = payload.get('links', [])
  for link in links:
    ends = [link.get(key) for key in ('source', 'target')]
    if any(end not in range(len(kinds)) for end in ends) or ends[0] == ends[1]:
      raise errors.UsageError(
        f'{name}: a link goes from {ends[0]!r} to {ends[1]!r}, but has to '
        f'connect two different devices of 0 to {len(kinds) - 1}.'
      )
  return kinds, links


def _between(
  source: device_description.DeviceDescription,
  target: device_description.DeviceDescription,
) -> _Link:
  """The link from one device to another."""
  if source.name == target.name and source.peer_link:
    return source.peer_link
  if 'CPU' in (source.device_type, target.device_type):
    other = target if source.device_type == 'CPU' else source
    link = other.host_link or other.peer_link
  elif source.host_link and target.host_link:
    link = source.host_link.through(target.host_link)
  else:
    link = source.host_link or target.host_link or source.peer_link
  return link


def _link_costs(links: tuple[tuple[_Link | None, ...], ...]):
  count = len(links)
  values = {
    field.name: np.zeros((count, count))
    for field in dataclasses.fields(_Link)
    if field.name != 'channel'
  }
  values['bytes_per_second'][:] = np.inf
  # The channels of sources come first, those of single links behind them.
  channel = np.arange(count * count, dtype=np.int32).reshape(count, count)
  channel += count
  for i, row in enumerate(links):
    for j, link in enumerate(row):
      if link is None:
        continue
      for name, value in values.items():
        value[i, j] = getattr(link, name)
      if link.channel == 'source':
        channel[i, j] = i
  return link_costs.LinkCosts(channel=channel, **values)
