"""LinkCosts: what moving tensors between devices costs.

Letters: `D` devices. Each field is `[D, D]`, from row to column; the diagonal
is not used.

  latency_seconds: float64, from the last byte leaving to its arrival;
    messages on the way do not hinder each other.
  message_seconds: float64, how long a message occupies its channel beside its
    bytes.
  bytes_per_second: float64, rate of the channel; may be inf.
  send_seconds_per_message, send_seconds_per_byte: float64, how long sending
    keeps the source device busy (gRPC costs CPU on both ends).
  receive_seconds_per_message, receive_seconds_per_byte: float64, the same of
    the target device.
  channel: int32, which channel a link uses. A channel carries one message at
    a time: a number for each link, or one for all links that leave a device
    (`one_channel_per_source`).

Invariants, checked on construction: shapes agree, nothing is negative or NaN,
rates are positive.
"""

import dataclasses
from collections.abc import Iterable

import numpy as np

from placer.core import device as device_lib
from placer.core import errors


@dataclasses.dataclass(frozen=True, eq=False)
class LinkCosts:
  """What moving tensors costs; see the module docstring."""

  latency_seconds: np.ndarray
  message_seconds: np.ndarray
  bytes_per_second: np.ndarray
  send_seconds_per_message: np.ndarray
  send_seconds_per_byte: np.ndarray
  receive_seconds_per_message: np.ndarray
  receive_seconds_per_byte: np.ndarray
  channel: np.ndarray

  def __post_init__(self) -> None:
    shape = self.channel.shape
    if len(shape) != 2 or shape[0] != shape[1]:
      raise ValueError(f'channel has shape {shape}, needs [D, D].')
    for field in dataclasses.fields(self):
      value = getattr(self, field.name)
      if value.shape != shape:
        raise ValueError(
          f'{field.name} has shape {value.shape}, needs {shape}.'
        )
      if not (value >= 0).all():
        raise ValueError(f'{field.name} has a negative value, or NaN.')
    if (self.bytes_per_second[~np.eye(shape[0], dtype=bool)] <= 0).any():
      raise ValueError('bytes_per_second must be positive, or inf.')

  @property
  def num_channels(self) -> int:
    """One more than the largest channel."""
    return int(self.channel.max(initial=-1)) + 1

  def one_channel_per_source(self) -> 'LinkCosts':
    """These links where a device sends one message at a time to anywhere."""
    count = len(self.channel)
    channel = np.repeat(
      np.arange(count, dtype=np.int32)[:, np.newaxis], count, 1
    )
    return dataclasses.replace(self, channel=channel)

  def scaled(self, factor: float) -> 'LinkCosts':
    """These links with every time multiplied by a positive factor."""
    values = {
      field.name: getattr(self, field.name) * factor
      for field in dataclasses.fields(self)
    }
    values['bytes_per_second'] = self.bytes_per_second / factor
    values['channel'] = self.channel
    return LinkCosts(**values)


def of_topology(devices: device_lib.DeviceTopology) -> LinkCosts:
  """The LinkCosts of measured links, each with a channel of its own.

  Args:
    devices: D devices with a link for each ordered pair.

  Returns:
    The LinkCosts.

  Raises:
    UsageError: a link is missing.
  """
  count = len(devices)
  known = np.eye(count, dtype=bool)
  for link in devices.links:
    known[link.source, link.target] = True
  missing = np.argwhere(~known)
  if len(missing):
    source, target = missing[0]
    raise errors.UsageError(
      f'Nothing is known of the link from {devices.names[source]} to '
      f'{devices.names[target]}: measure the links of '
      f'--devices={devices.spec} first, or give LinkCosts.'
    )
  shape = count, count
  free = {
    field.name: np.zeros(shape) for field in dataclasses.fields(LinkCosts)
  }
  free['bytes_per_second'] = np.full(shape, np.inf)
  free['channel'] = np.arange(count**2, dtype=np.int32).reshape(shape)
  return with_measured(LinkCosts(**free), devices.links)


def with_measured(
  costs: LinkCosts, links: Iterable[device_lib.Link]
) -> LinkCosts:
  """LinkCosts in which some links are as measured.

  A measured time is that of a tensor from end to end, and the time for which it
  keeps the two ends busy is a part of it. Between processes of one host that is
  all of it: each end then has a half.

  Args:
    costs: of D devices.
    links: between some of them.

  Returns:
    The LinkCosts, channels as they were.
  """
  fields = {
    field.name: getattr(costs, field.name).copy()
    for field in dataclasses.fields(LinkCosts)
  }
  for link in links:
    message_load = min(link.load_seconds, link.latency_seconds / 2)
    rate, byte = link.bytes_per_second, 1 / link.bytes_per_second
    byte_load = min(link.load_seconds_per_byte, byte / 2)
    if byte_load:
      wire = byte - 2 * byte_load
      rate = 1 / wire if wire > 0 else np.inf
    measured = {
      'latency_seconds': link.latency_seconds - 2 * message_load,
      'message_seconds': 0.0,  # it is in the measured latency
      'bytes_per_second': rate,
      'send_seconds_per_message': message_load,
      'send_seconds_per_byte': byte_load,
      'receive_seconds_per_message': message_load,
      'receive_seconds_per_byte': byte_load,
    }
    for name, value in measured.items():
      fields[name][link.source, link.target] = value
  return LinkCosts(**fields)
