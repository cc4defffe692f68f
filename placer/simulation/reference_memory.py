"""Ledger: who holds how much memory of which device, for the reference.

A key names what holds memory: (kind, op, tensor), as in `Holder`.
"""

from placer.core import schedule as schedule_lib

_Key = tuple[str, int, int]


class Ledger:
  """The memory of D devices over one step.

  Attributes:
    timeline: (seconds, device, bytes in use from then on), one a change.
  """

  def __init__(self, num_devices: int) -> None:
    self.timeline = [(0.0, device, 0) for device in range(num_devices)]
    self._live = [0] * num_devices
    self._held: list[dict[_Key, int]] = [{} for _ in range(num_devices)]
    self._changes: list[tuple[int, _Key, int | None]] = []
    self._peak_changes = [0] * num_devices
    self._peaks = [0] * num_devices
    self._peak_seconds = [0.0] * num_devices

  def hold(self, device: int, key: _Key, size: int, now: float) -> None:
    """Takes memory."""
    self._held[device][key] = size
    self._change(device, key, size, size, now)
    if self._live[device] > self._peaks[device]:
      self._peaks[device] = self._live[device]
      self._peak_seconds[device] = now
      self._peak_changes[device] = len(self._changes)

  def drop(self, device: int, key: _Key, now: float) -> None:
    """Gives it back."""
    self._change(device, key, None, -self._held[device].pop(key), now)

  def peaks(self) -> list[tuple[int, float, tuple[schedule_lib.Holder, ...]]]:
    """Of each device: bytes, when first, and the holders, largest first."""
    found = []
    for device in range(len(self._live)):
      held = {}
      for other, key, size in self._changes[: self._peak_changes[device]]:
        if other == device and size is None:
          del held[key]
        elif other == device:
          held[key] = size
      holders = [
        schedule_lib.Holder(*key, size) for key, size in held.items() if size
      ]
      holders.sort(key=lambda holder: (-holder.bytes, holder.op, holder.tensor))
      found.append(
        (self._peaks[device], self._peak_seconds[device], tuple(holders))
      )
    return found

  def _change(self, device, key, size, difference, now) -> None:
    self._live[device] += difference
    self._changes.append((device, key, size))
    self.timeline.append((now, device, self._live[device]))
