"""Lane: the parent's handle of one client process and its workers.

    lane = Lane(nursery, spec)
    value = lane.call('step', timeouts, count=3)     # may raise, see below
    lane.close()

A call ends in one of three ways: it returns what the method of
`lane_process.LaneServer` returned; it raises `FailedError` with the Failure
that the lane reports, after which the lane is as good as before; or it raises
`LostError`, after which the lane and its workers are dead and a new one must
be made.
"""

import multiprocessing.connection
import os
import pathlib
import signal
import time
from collections.abc import Mapping
from typing import Any

from placer.core import measurement as measurement_lib
from placer.measurers import failure as failure_lib
from placer.measurers.processes import lane_spec
from placer.measurers.processes import nursery as nursery_lib

_TAIL_BYTES = 1500
# How long after a failure the news of a worker's death may come.
_NEWS_SECONDS = {
  measurement_lib.Status.DEVICE_LOST: 2.0,
  measurement_lib.Status.CRASHED: 0.5,
}
# How long after a worker has run out of memory the session may say so itself.
_LAST_WORDS_SECONDS = 1.0


class FailedError(Exception):
  """The lane could not do what was asked; it lives on.

  Attributes:
    failure: what went wrong.
  """

  def __init__(self, failure: failure_lib.Failure) -> None:
    super().__init__(failure.reason)
    self.failure = failure


class LostError(FailedError):
  """The lane is dead: crash, timeout, lost worker."""


class Lane:
  """One client process and its workers; see the module docstring."""

  def __init__(
    self, nursery: nursery_lib.Nursery, spec: lane_spec.LaneSpec
  ) -> None:
    """Forks the lane's processes.

    Args:
      nursery: forks them.
      spec: what they are.

    Raises:
      UsageError: the kernel forbids the namespace that workers must live in.
      NurseryLostError: the nursery has died.
    """
    self._nursery = nursery
    self._spec = spec
    self._status: int | None = None
    self._news_seconds = _NEWS_SECONDS if spec.layout.worker_cores else {}
    self.pid, self._connection = nursery.fork(spec)

  def call(
    self, method: str, timeouts: Mapping[str, float], **arguments: Any
  ) -> Any:
    """Calls a method of the lane's LaneServer.

    Args:
      method: its name.
      timeouts: seconds that each phase may take, 'start' and whatever phases
        the method announces. A phase that is not named has no limit.
      **arguments: its arguments; must pickle.

    Returns:
      What the method returned.

    Raises:
      FailedError: the method failed; the lane goes on.
      LostError: the lane is dead.
    """
    try:
      self._connection.send((method, arguments))
      return self._receive(timeouts)
    except (EOFError, OSError) as error:
      raise LostError(self._crash()) from error

  def is_idle_and_well(self) -> bool:
    """Whether it can be called; False once it or a worker has died."""
    # Between calls only the news of a death can be waiting.
    return self._status is None and not self._connection.poll(0)

  def close(self) -> None:
    """Kills the lane's processes and waits for the client's end."""
    if self._status is not None:
      return
    self._connection.close()
    try:
      os.kill(self.pid, signal.SIGKILL)
    except ProcessLookupError:
      pass  # the nursery is dead, and everything below it
    try:
      self._status = self._nursery.reap(self.pid)
    except nursery_lib.NurseryLostError:
      self._status = -1

  def _receive(self, timeouts: Mapping[str, float]) -> Any:
    phase, began = 'start', time.monotonic()
    starved: failure_lib.Failure | None = None
    while True:
      limit = _LAST_WORDS_SECONDS if starved else timeouts.get(phase)
      left = None if limit is None else began + limit - time.monotonic()
      ready = multiprocessing.connection.wait([self._connection], left)
      if not ready:
        self.close()
        raise LostError(
          starved
          or failure_lib.Failure(
            measurement_lib.Status.TIMEOUT,
            f'The {phase} did not end within {limit:.3g} s.',
          )
        )
      verb, value = self._connection.recv()
      if verb == 'result':
        return value
      if verb == 'phase':
        phase, began = value, time.monotonic()
      elif verb == 'failed':
        raise self._failed(value)
      elif verb == 'worker_died':
        raise self._lost_worker(*value)
      elif verb == 'out_of_memory':
        starved, began = _starved(*value), time.monotonic()

  def _failed(self, failure: failure_lib.Failure) -> FailedError:
    # A session may notice a dead worker before this process is told, and
    # name it in many ways: wait for the news before its words are believed.
    wait = self._news_seconds.get(failure.status, 0.0)
    if self._connection.poll(wait):
      verb, value = self._connection.recv()
      if verb == 'worker_died':
        return self._lost_worker(*value)
    is_starved = failure.status is measurement_lib.Status.OUT_OF_MEMORY
    if failure.status is not measurement_lib.Status.DEVICE_LOST and not (
      # Other ops of its workers still wait for memory.
      is_starved and self._spec.layout.worker_cores
    ):
      return FailedError(failure)
    self.close()
    return LostError(failure)

  def _lost_worker(self, index: int, status: int) -> LostError:
    self.close()
    path = self._spec.worker_log(index)
    return LostError(
      failure_lib.Failure(
        measurement_lib.Status.DEVICE_LOST,
        f'Worker process {index} ended: {_ending(status)}.{_tail(path)}',
        {'worker': index},
      )
    )

  def _crash(self) -> failure_lib.Failure:
    self.close()
    status = self._status if self._status is not None else -1
    ending = _ending(status) if status != -1 else 'the nursery ended too'
    return failure_lib.Failure(
      measurement_lib.Status.CRASHED,
      f'The measuring process ended: {ending}.{_tail(self._spec.log_path)}',
    )


def _starved(index: int, words: str) -> failure_lib.Failure:
  device = f'/job:worker/replica:0/task:{index}/device:CPU:0'
  return failure_lib.Failure(
    measurement_lib.Status.OUT_OF_MEMORY,
    f'Out of memory on {device}: {words}',
    {'device': device},
  )


def _ending(status: int) -> str:
  if os.WIFSIGNALED(status):
    number = os.WTERMSIG(status)
    try:
      return f'signal {number} ({signal.Signals(number).name})'
    except ValueError:
      return f'signal {number}'
  return f'exit code {os.WEXITSTATUS(status)}'


def _tail(path: str) -> str:
  """The end of a log as a sentence, '' if there is nothing in it."""
  try:
    data = pathlib.Path(path).read_bytes()[-_TAIL_BYTES:]
  except OSError:
    return ''
  text = data.decode('utf-8', 'replace').strip()
  return f' The end of {path}:\n{text}' if text else ''
