"""DeviceKind: one form of `--devices`.

    kind = registry.find(spec)
    topology = kind.resolve(spec)         # what the text means
    layout = kind.layout(topology)        # the processes it lives in

A new kind is one file in this folder with a subclass that has no abstract
methods; nothing else is edited.
"""

import abc
from typing import ClassVar

from placer.core import device as device_lib
from placer.devices import layout as layout_lib


class DeviceKind(abc.ABC):
  """One form of `--devices`; see the module docstring.

  Attributes:
    form: how it is written, 'local:N'.
    summary: half a sentence for messages and `--help`.
    priority: kinds are asked in ascending order; the last one takes any text.
  """

  form: ClassVar[str]
  summary: ClassVar[str]
  priority: ClassVar[int] = 0

  @abc.abstractmethod
  def matches(self, spec: str) -> bool:
    """Whether `spec` is written in this form, right or wrong in detail."""

  @abc.abstractmethod
  def resolve(self, spec: str) -> device_lib.DeviceTopology:
    """The devices that `spec` means.

    Args:
      spec: a text that `matches`.

    Returns:
      The topology, without links and memory limits.

    Raises:
      UsageError: the text has a mistake, or this machine lacks the devices.
    """

  @abc.abstractmethod
  def layout(
    self, topology: device_lib.DeviceTopology
  ) -> layout_lib.ProcessLayout:
    """The processes in which the devices of `topology` live.

    Args:
      topology: what `resolve` gave, links and limits changed or not.

    Returns:
      The layout.

    Raises:
      UsageError: the devices are simulated, so that they live in none.
    """
