"""Gives memory that a process has freed back to the system.

glibc keeps what was freed in its arenas. A session's graphs leave so much there
(1.2 GB for Inception-V3, whose weights are in its GraphDef, in several copies)
that a search would fill the host with it.
"""

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterable

_SIGNAL = signal.SIGUSR1


def trim(*unused: object) -> None:
  """Gives back what this process has freed; does nothing without glibc."""
  trim_heap = getattr(ctypes.CDLL(None), 'malloc_trim', None)
  if trim_heap is not None:
    trim_heap(0)


def trim_when_asked() -> None:
  """From now on this process does so when `ask` is called for it."""
  signal.signal(_SIGNAL, trim)


def ask(pids: Iterable[int]) -> None:
  """Asks processes that called `trim_when_asked`.

  Args:
    pids: their ids; of those that have ended, nothing is asked.
  """
  for pid in pids:
    with contextlib.suppress(ProcessLookupError):
      os.kill(pid, _SIGNAL)
