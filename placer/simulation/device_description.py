"""DeviceDescription: a kind of device, as its JSON file describes it.

The files of placer are in `devices/`, one a kind; a user's file looks alike:

    {"summary": "NVIDIA Tesla V100 SXM2, 16 GB",
     "device_type": "GPU",                 GPU or CPU
     "flops_per_second": {"float32": 1.57e13, "float16": 1.25e14},  peak rates
     "memory_bytes_per_second": 9e11,
     "efficiency": 0.5,                    share of both that ops reach
     "op_overhead_seconds": 0.0,           added to each op that does something
     "op_gap_seconds": 5.7e-6,             device busy after each such op
     "memory_bytes": 16000000000,          null for no limit
     "concurrency": 1,                     ops at once
     "peer_link": {...},                   to another device of this kind
     "host_link": {...},                   to a CPU of the host, and through it
     "sources": {"memory_bytes": "..."}}   where the figures are from

Optional are summary, efficiency (1), op_overhead_seconds (0), op_gap_seconds
(0), memory_bytes (null), concurrency (1), one of the links, sources.

A link, with the meaning of `core/link_costs.py`:

    {"latency_seconds": 0.0, "message_seconds": 1e-5,
     "bytes_per_second": 1.5e11,
     "send_seconds_per_message": 0.0, "send_seconds_per_byte": 0.0,
     "receive_seconds_per_message": 0.0, "receive_seconds_per_byte": 0.0,
     "channel": "source"}                  one transfer at a time from each
                                           "source", or on each "link"

Only bytes_per_second is needed; the channel is "link" unless it says so.
"""

import dataclasses
import json
import math
import pathlib
from collections.abc import Mapping
from typing import Any

from placer.core import errors

_FOLDER = pathlib.Path(__file__).parent / 'devices'
_CHANNELS = ('link', 'source')
_TYPES = ('CPU', 'GPU')


@dataclasses.dataclass(frozen=True)
class LinkDescription:
  """A kind of link; see the module docstring."""

  bytes_per_second: float
  latency_seconds: float = 0.0
  message_seconds: float = 0.0
  send_seconds_per_message: float = 0.0
  send_seconds_per_byte: float = 0.0
  receive_seconds_per_message: float = 0.0
  receive_seconds_per_byte: float = 0.0
  channel: str = 'link'

  def through(self, other: 'LinkDescription') -> 'LinkDescription':
    """Both links one after the other, as between GPUs through their host."""
    sums = {
      field.name: getattr(self, field.name) + getattr(other, field.name)
      for field in dataclasses.fields(self)
      if field.name.endswith('seconds') or '_seconds_per_' in field.name
    }
    return LinkDescription(
      bytes_per_second=min(self.bytes_per_second, other.bytes_per_second),
      channel=self.channel,
      **sums,
    )


@dataclasses.dataclass(frozen=True)
class DeviceDescription:
  """A kind of device; see the module docstring."""

  name: str
  device_type: str
  flops_per_second: Mapping[str, float]
  memory_bytes_per_second: float
  summary: str = ''
  efficiency: float = 1.0
  op_overhead_seconds: float = 0.0
  op_gap_seconds: float = 0.0
  memory_bytes: int | None = None
  concurrency: int = 1
  peer_link: LinkDescription | None = None
  host_link: LinkDescription | None = None
  sources: Mapping[str, str] = dataclasses.field(default_factory=dict)


def names() -> tuple[str, ...]:
  """The kinds that placer describes itself: 'a100', 'k80' …"""
  return tuple(sorted(file.stem for file in _FOLDER.glob('*.json')))


def load(name: str) -> DeviceDescription:
  """The description of a kind.

  Args:
    name: one of `names()`.

  Returns:
    The DeviceDescription.

  Raises:
    UsageError: there is no such kind.
  """
  if name not in names():
    raise errors.UsageError(
      f'There is no simulated device {name!r}. Choose one of: '
      f'{", ".join(names())}; or give the path of a JSON file of your own, '
      'simulated:/path/my_device.json.'
    )
  file = _FOLDER / f'{name}.json'
  return from_json(json.loads(file.read_text(encoding='utf-8')), name)


def from_json(payload: Any, name: str) -> DeviceDescription:
  """Reads a description.

  Args:
    payload: what a JSON file has.
    name: of the kind, for messages and reports.

  Returns:
    The DeviceDescription.

  Raises:
    UsageError: a key is missing, unknown or has a wrong value.
  """
  fields = _fields(payload, DeviceDescription, name, without=('name',))
  _check_rates(fields, name)
  for key in ('peer_link', 'host_link'):
    if fields.get(key) is not None:
      fields[key] = link_from_json(fields[key], f'{name}, {key}')
  if not fields.get('peer_link') and not fields.get('host_link'):
    raise errors.UsageError(
      f'The device {name} needs "peer_link", "host_link", or both.'
    )
  return DeviceDescription(name=name, **fields)


def link_from_json(payload: Any, name: str) -> LinkDescription:
  """Reads the description of a link.

  Args:
    payload: what a JSON file has.
    name: for messages.

  Returns:
    The LinkDescription.

  Raises:
    UsageError: a key is missing, unknown or has a wrong value.
  """
  fields = _fields(payload, LinkDescription, name)
  if fields.get('channel', 'link') not in _CHANNELS:
    raise _wrong(name, 'channel', fields['channel'], ' or '.join(_CHANNELS))
  for key, value in fields.items():
    if key != 'channel':
      _number(name, key, value, positive=key == 'bytes_per_second')
  return LinkDescription(**fields)


def _check_rates(fields: dict[str, Any], name: str) -> None:
  if fields['device_type'] not in _TYPES:
    raise _wrong(
      name, 'device_type', fields['device_type'], ' or '.join(_TYPES)
    )
  rates = fields['flops_per_second']
  if not isinstance(rates, dict) or not rates:
    raise _wrong(
      name,
      'flops_per_second',
      rates,
      'a rate for each dtype: {"float32": 1e12}',
    )
  for dtype, rate in rates.items():
    _number(name, f'flops_per_second[{dtype}]', rate, positive=True)
  _number(
    name,
    'memory_bytes_per_second',
    fields['memory_bytes_per_second'],
    positive=True,
  )
  for key in ('op_overhead_seconds', 'op_gap_seconds'):
    _number(name, key, fields.get(key, 0.0))
  if not 0 < _number(name, 'efficiency', fields.get('efficiency', 1.0)) <= 1:
    raise _wrong(
      name, 'efficiency', fields['efficiency'], 'more than 0, up to 1'
    )
  for key in ('memory_bytes', 'concurrency'):
    value = fields.get(key)
    if value is not None and (type(value) is not int or value < 1):
      raise _wrong(name, key, value, 'a whole number of at least 1')


def _fields(
  payload: Any, kind: type, name: str, without: tuple[str, ...] = ()
) -> dict[str, Any]:
  known = {
    field.name: field.default is dataclasses.MISSING
    and field.default_factory is dataclasses.MISSING
    for field in dataclasses.fields(kind)
    if field.name not in without
  }
  if not isinstance(payload, dict):
    raise errors.UsageError(
      f'{name} has to be a JSON object with the keys {", ".join(known)}.'
    )
  unknown = sorted(set(payload) - set(known))
  missing = [key for key, is_needed in known.items() if is_needed]
  missing = [key for key in missing if key not in payload]
  if unknown or missing:
    what = [f'has an unknown key {key!r}' for key in unknown]
    what += [f'lacks the key {key!r}' for key in missing]
    raise errors.UsageError(
      f'{name} {" and ".join(what)}. The keys are: {", ".join(known)}.'
    )
  return dict(payload)


def _number(name: str, key: str, value: Any, *, positive: bool = False):
  rule = 'a number above 0' if positive else 'a number of at least 0'
  is_number = isinstance(value, int | float) and not isinstance(value, bool)
  if not is_number or not math.isfinite(value) or value < 0:
    raise _wrong(name, key, value, rule)
  if positive and not value:
    raise _wrong(name, key, value, rule)
  return value


def _wrong(name: str, key: str, value: Any, rule: str) -> errors.UsageError:
  return errors.UsageError(f'{name}: {key} is {value!r}, but has to be {rule}.')
