"""ProcessLayout: the processes in which the devices of a topology live.

worker_cores: one tuple of core numbers for each worker process, in the
  order of the devices; () where the devices live in the measuring process.
logical_cpus: number of CPU devices in the measuring process.
gpus: number of GPUs that the measuring process sees, 0 to hide them.
host_cores: all cores that the measuring processes may use.
memory_limits: {full device name: bytes} that the runtime shall enforce.
"""

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class ProcessLayout:
  """Where the devices live; see the module docstring."""

  worker_cores: tuple[tuple[int, ...], ...] = ()
  logical_cpus: int = 1
  gpus: int = 0
  host_cores: tuple[int, ...] = ()
  memory_limits: Mapping[str, int] = dataclasses.field(default_factory=dict)
