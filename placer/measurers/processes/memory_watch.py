"""Tells at once that a worker has run out of memory.

TensorFlow's CPU allocator holds its lock for the 10 s that it waits for memory
to come back, so nothing can be freed, and each op that is running waits in its
turn: a step of many ops fails only after minutes. But the first allocation that
fails is in the worker's log after those 10 s.
"""

import re
import time
from collections.abc import Callable, Sequence

_LINE = re.compile(r'Allocator \(\w+\) ran out of memory [^\n]*')
_PERIOD_SECONDS = 0.5


def find(log: str) -> str:
  """The first words of a log about an allocation that failed; '' if none.

  Args:
    log: what a worker has printed.
  """
  found = _LINE.search(log)
  return found.group().split(' with freed_by_count')[0] if found else ''


def watch(paths: Sequence[str], tell: Callable[[int, str], None]) -> None:
  """Reads the logs of workers until one has run out of memory.

  Args:
    paths: a log for each worker.
    tell: is given the index of that worker, and its words.
  """
  while True:
    for index, path in enumerate(paths):
      with open(path, encoding='utf-8', errors='replace') as log:
        words = find(log.read())
      if words:
        tell(index, words)
        return
    time.sleep(_PERIOD_SECONDS)
