"""LaneSpec: what a lane is made of. Small: it travels in one datagram."""

import dataclasses

from placer.devices import layout as layout_lib


@dataclasses.dataclass(frozen=True)
class LaneSpec:
  """What a lane is made of.

  Attributes:
    role: 'candidate', 'reference', 'host', 'links' or 'profile'; names the log
      files.
    layout: its processes and their cores.
    log_path: file that gets what the lane and its workers print; workers
      append '.worker0' and so on.
    op_libraries: files with custom ops, loaded before anything runs.
    sequential: run one op at a time.
  """

  role: str
  layout: layout_lib.ProcessLayout
  log_path: str
  op_libraries: tuple[str, ...] = ()
  sequential: bool = False

  def worker_log(self, index: int) -> str:
    """The file that gets what a worker prints."""
    return f'{self.log_path}.worker{index}'
