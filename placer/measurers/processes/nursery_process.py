"""The nursery: a process with TensorFlow imported that forks lanes.

Started by `nursery.Nursery` as

    python -m placer.measurers.processes.nursery_process FD NAMESPACE

with FD an inherited SOCK_SEQPACKET socket and NAMESPACE one of 'none', 'try'
and 'must'. It says one message ('ready', isolated) or ('refused', reason),
then answers, one at a time:

    ('fork', LaneSpec) + a socket  ->  ('pid', pid)     the lane has the socket
    ('reap', pid)                  ->  ('status', wait status)

It never starts a thread or touches a device, so that forking stays safe, and
ends when the socket closes.
"""

import faulthandler
import multiprocessing.connection
import os
import pickle
import select
import socket
import sys

from placer.measurers.processes import isolation
from placer.measurers.processes import lane_spec

_MESSAGE_BYTES = 1 << 16


def main() -> None:
  """Serves until the other end closes."""
  control = socket.socket(fileno=int(sys.argv[1]))
  faulthandler.enable()
  parent = os.getppid()
  isolated = sys.argv[2] != 'none'
  try:
    if isolated:
      isolation.enter_network_namespace()
  except OSError as error:
    isolated = False
    if sys.argv[2] == 'must':
      _send(control, ('refused', str(error)))
      return
  # Only now: namespaces need a process with one thread.
  from placer.measurers.processes import lane_process  # noqa: F401

  _send(control, ('ready', isolated))
  while _wait(control, parent):
    data, descriptors, _, _ = socket.recv_fds(control, _MESSAGE_BYTES, 1)
    if not data:
      return
    verb, argument = pickle.loads(data)
    if verb == 'fork':
      pid = _fork_lane(control, argument, descriptors[0])
      os.close(descriptors[0])
      _send(control, ('pid', pid))
    elif verb == 'reap':
      _send(control, ('status', os.waitpid(argument, 0)[1]))


def _wait(control: socket.socket, parent: int) -> bool:
  """Waits for a message; False when the parent is gone.

  A process that the parent forked may hold the socket's other end open, so
  the end of the stream alone does not tell.
  """
  while not select.select([control], [], [], 1.0)[0]:
    if os.getppid() != parent:
      return False
  return True


def _fork_lane(
  control: socket.socket, spec: lane_spec.LaneSpec, descriptor: int
) -> int:
  nursery = os.getpid()
  pid = os.fork()
  if pid:
    return pid
  try:
    isolation.die_with_parent(nursery)
    control.close()
    from placer.measurers.processes import lane_process

    lane_process.main(multiprocessing.connection.Connection(descriptor), spec)
  finally:
    # Not sys.exit: nothing of the nursery's may run a second time.
    os._exit(0)
  return 0


def _send(control: socket.socket, message: object) -> None:
  control.send(pickle.dumps(message))


if __name__ == '__main__':
  main()
