"""Nursery: the parent's handle of the process that forks lanes.

    nursery = Nursery(log_path, namespace='must')
    pid, connection = nursery.fork(spec)
    ...
    status = nursery.reap(pid)            # after the lane ended
    nursery.close()                       # ends all of it

`nursery_process.py` is the other side.
"""

import multiprocessing.connection
import os
import pathlib
import pickle
import signal
import socket
import subprocess
import sys

from placer.core import errors
from placer.measurers.processes import lane_spec

_PROXIES = ('http_proxy', 'https_proxy', 'all_proxy', 'grpc_proxy')
_START_SECONDS = 180.0


class NurseryLostError(Exception):
  """The nursery process is gone; a new one must be made."""


class Nursery:
  """Starts a nursery process and talks to it; see the module docstring."""

  def __init__(
    self, log_path: pathlib.Path, *, namespace: str, gpus: bool = False
  ) -> None:
    """Starts the process; does not wait until it is ready.

    Args:
      log_path: file that gets what it prints.
      namespace: 'none', 'try' or 'must': whether it lives in a network
        namespace of its own.
      gpus: whether its lanes may see GPUs.
    """
    self._log_path = log_path
    self._control, theirs = socket.socketpair(
      socket.AF_UNIX, socket.SOCK_SEQPACKET
    )
    self._control.settimeout(_START_SECONDS)
    self._ready = False
    self._isolated = False
    with theirs, open(log_path, 'ab') as log:
      self._process = subprocess.Popen(
        [
          sys.executable,
          '-m',
          'placer.measurers.processes.nursery_process',
          str(theirs.fileno()),
          namespace,
        ],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=[theirs.fileno()],
        env=_environment(gpus),
        # Ctrl-C is for the parent, which then closes this one.
        start_new_session=True,
      )

  @property
  def pid(self) -> int:
    """The process id."""
    return self._process.pid

  @property
  def control(self) -> socket.socket:
    """Readable when the process has died; to be waited for."""
    return self._control

  @property
  def isolated(self) -> bool:
    """Whether it is in a network namespace of its own."""
    self._wait_until_ready()
    return self._isolated

  def fork(
    self, spec: lane_spec.LaneSpec
  ) -> tuple[int, multiprocessing.connection.Connection]:
    """Forks a lane.

    Args:
      spec: what the lane is made of.

    Returns:
      Its process id, and a connection that ends when the lane does.

    Raises:
      UsageError: the kernel forbids namespaces, and one was a must.
      NurseryLostError: the process has died.
    """
    self._wait_until_ready()
    ours, theirs = socket.socketpair()
    with ours, theirs:
      self._send(('fork', spec), [theirs.fileno()])
      pid = self._receive()[1]
      return pid, multiprocessing.connection.Connection(ours.detach())

  def reap(self, pid: int) -> int:
    """Waits for a lane that has ended, and returns its wait status."""
    self._send(('reap', pid), [])
    return self._receive()[1]

  def close(self) -> None:
    """Kills the process, and with it all lanes and workers."""
    self._control.close()
    self._process.send_signal(signal.SIGKILL)
    self._process.wait()

  def _wait_until_ready(self) -> None:
    if self._ready:
      return
    verb, argument = self._receive()
    if verb == 'refused':
      self.close()
      raise errors.UsageError(
        'This machine forbids the network namespace in which local workers '
        f'must live ({argument}): TensorFlow servers obey anyone who can '
        'reach them. Allow user namespaces (sysctl '
        'kernel.unprivileged_userns_clone=1, or run the container with '
        '--security-opt seccomp=unconfined), use --devices=logical:N for '
        'correctness only, or pass --allow_exposed_workers if every user '
        'of this machine and network may be trusted.'
      )
    self._ready, self._isolated = True, argument

  def _send(self, message: object, descriptors: list[int]) -> None:
    try:
      socket.send_fds(self._control, [pickle.dumps(message)], descriptors)
    except OSError as error:
      raise NurseryLostError(str(error)) from error

  def _receive(self) -> tuple[str, object]:
    try:
      data = self._control.recv(1 << 16)
    except OSError as error:
      raise NurseryLostError(str(error)) from error
    if not data:
      raise NurseryLostError(f'It ended; see {self._log_path}.')
    return pickle.loads(data)


def _environment(gpus: bool) -> dict[str, str]:
  environment = {
    key: value
    for key, value in os.environ.items()
    if key.lower() not in _PROXIES  # workers are on the loopback
  }
  environment['PYTHONPATH'] = os.pathsep.join(
    os.path.abspath(path or '.') for path in sys.path
  )
  # It goes to files, which `memory_watch.py` reads.
  environment['TF_CPP_MIN_LOG_LEVEL'] = '1'
  # numpy's threads would make the nursery unsafe to fork.
  environment['OPENBLAS_NUM_THREADS'] = '1'
  if not gpus:
    environment['CUDA_VISIBLE_DEVICES'] = '-1'
  return environment
