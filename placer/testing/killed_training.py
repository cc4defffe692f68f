"""A training in a process of its own that is killed with SIGKILL.

A test that also is a program: with `child_folder()` it trains there instead of
testing, and waits, when it has learned enough, for its end.

    child = killed_training.child_folder()
    if child:
      train(child, on_update=killed_training.wait_to_be_killed)
    else:
      absltest.main()
"""

import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

# The last of its updates: with checkpoints every third update and rounds of two
# graphs, the last of neither.
KILLED_AFTER = 5
_CHILD = '--child='


def run_and_kill(program: str, folder: pathlib.Path) -> None:
  """Starts a program that trains in a folder; kills it in the middle.

  Args:
    program: the test file.
    folder: where it keeps its checkpoints and its curve.

  Raises:
    RuntimeError: if it ended by itself.
  """
  child = subprocess.Popen(
    [sys.executable, '-P', program, f'{_CHILD}{folder}'],
    env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
  )
  curve = folder / 'curve.jsonl'
  while child.poll() is None:
    if curve.exists() and curve.read_text().count('\n') == KILLED_AFTER:
      child.send_signal(signal.SIGKILL)
    time.sleep(0.05)
  if child.wait() != -signal.SIGKILL:
    raise RuntimeError(f'{program} ended with {child.returncode} by itself')


def child_folder() -> pathlib.Path | None:
  """Where to train, in the process that is to be killed; None in a test."""
  folders = [arg for arg in sys.argv if arg.startswith(_CHILD)]
  return pathlib.Path(folders[0].removeprefix(_CHILD)) if folders else None


def wait_to_be_killed(line: dict[str, Any], seconds_left: float | None) -> None:
  """Does not return after update `KILLED_AFTER`: a trainer's `on_update`."""
  del seconds_left
  while line['update'] >= KILLED_AFTER:
    time.sleep(1)
