"""Which cores the threads of a worker use, and for how long at a time.

A worker's compute threads stay on the worker's cores. Its network threads may
use every core of the host: on the worker's own they wait their turn behind the
compute threads, again at each of the some ten hand-overs that a tensor takes
through gRPC, and a transfer then takes ten times as long as the link needs.
Hosts that local workers stand for have cores to spare for the network; its CPU
time is small (2 ms of a step of 60 with four transfers).

Measured on `local:2` with two cores, four of eight experts on each worker:
63 ms a step with all threads pinned, 52 ms so; one worker takes 85 ms.

Where the workers have all cores of the host, network threads share them with
compute threads. They then get short time slices: Linux runs first who asks for
less (EEVDF, since 6.12; older kernels ignore the slice), so a network thread
that wakes up does not wait for the end of a compute thread's slice. Five good
placements of that model, each measured twice with and without: steps are 4 %
shorter so, and the two measurements of a placement 2 to 8 % apart instead of 0
to 15 %. Compute threads keep their slices: with 20 ms instead, an op waited for
another of its worker, and a message between busy workers took 2 to 8 ms instead
of 0.4 to 0.6 (2026-12-01).
"""

import ctypes
import os
import pathlib
import platform
import struct
from collections.abc import Collection, Mapping

# The name TensorFlow gives to the threads that run ops.
_COMPUTE = 'tf_Compute'
_NETWORK_SLICE = 100_000  # nanoseconds; Linux takes 0.1 to 100 ms
_SCHED_SETATTR = {'x86_64': 314, 'aarch64': 274}.get(platform.machine())
# struct sched_attr: size, policy, flags, nice, priority, then the slice (which
# has another meaning for real-time policies), deadline, period.
_SCHED_ATTR = struct.Struct('IIQiIQQQ')


def assign(
  workers: Mapping[int, Collection[int]], host_cores: Collection[int]
) -> None:
  """Assigns cores and slices to the threads that the workers have now.

  A worker without compute threads is left as it is: they are made when the
  first graph arrives, by threads whose cores they inherit.

  Args:
    workers: {process id: the worker's cores}.
    host_cores: the cores that network threads may use.
  """
  for pid, cores in workers.items():
    threads = _threads(pid)
    if _COMPUTE not in threads.values():
      continue
    for thread, name in threads.items():
      is_compute = name == _COMPUTE
      try:
        os.sched_setaffinity(thread, cores if is_compute else host_cores)
        if not is_compute:
          _set_slice(thread, _NETWORK_SLICE)
      except ProcessLookupError:
        pass  # it ended meanwhile


def _threads(pid: int) -> dict[int, str]:
  """{thread id: name}; {} of a process that is gone."""
  found = {}
  try:
    for folder in pathlib.Path(f'/proc/{pid}/task').iterdir():
      found[int(folder.name)] = (folder / 'comm').read_text().strip()
  except (FileNotFoundError, ProcessLookupError):
    pass
  return found


def _set_slice(thread: int, nanoseconds: int) -> None:
  """Asks for a time slice; without effect where the system knows none."""
  if _SCHED_SETATTR is None or os.sched_getscheduler(thread) != os.SCHED_OTHER:
    return
  nice = os.getpriority(os.PRIO_PROCESS, thread)
  attributes = _SCHED_ATTR.pack(
    _SCHED_ATTR.size, os.SCHED_OTHER, 0, nice, 0, nanoseconds, 0, 0
  )
  ctypes.CDLL(None).syscall(_SCHED_SETATTR, thread, attributes, 0)
