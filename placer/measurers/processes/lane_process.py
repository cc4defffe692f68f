"""The lane: starts its workers, then does what the parent asks.

Forked by the nursery. Over the connection come (method, arguments) of a
`lane_server.LaneServer`; back go ('phase', name) while it works, then one of
('result', value) and ('failed', Failure). ('worker_died', (index, wait
status)) and ('out_of_memory', (index, words)) may come at any time.
"""

import faulthandler
import multiprocessing.connection
import os
import socket
import threading
from collections.abc import Iterable

import tensorflow as tf

from placer.measurers import failure as failure_lib
from placer.measurers import lane_server
from placer.measurers.processes import free_memory
from placer.measurers.processes import lane_spec
from placer.measurers.processes import memory_cap
from placer.measurers.processes import memory_watch
from placer.measurers.processes import thread_cores
from placer.measurers.processes import worker_process

_CPU = '/job:localhost/replica:0/task:0/device:CPU:0'


def main(
  connection: multiprocessing.connection.Connection,
  spec: lane_spec.LaneSpec,
) -> None:
  """Serves until the connection ends.

  Args:
    connection: to the parent.
    spec: what this lane is.
  """
  worker_process.redirect_output(spec.log_path)
  faulthandler.enable()
  for library in spec.op_libraries:
    tf.load_op_library(library)
  target, workers = _start_workers(connection, spec)
  lock = threading.Lock()

  def send(verb: str, value: object) -> None:
    with lock:
      connection.send((verb, value))

  if workers:
    # A thread, since the main thread may be in a step that never ends now.
    threading.Thread(target=_watch, args=(workers, send), daemon=True).start()
  if workers and spec.layout.memory_limits:
    logs = [spec.worker_log(index) for index in workers.values()]
    threading.Thread(
      target=memory_watch.watch,
      args=(logs, lambda *found: send('out_of_memory', found)),
      daemon=True,
    ).start()
  cores = dict(zip(workers, spec.layout.worker_cores, strict=True))
  server = lane_server.LaneServer(
    spec.layout,
    target,
    lambda phase: send('phase', phase),
    lambda: thread_cores.assign(cores, spec.layout.host_cores),
    free_memory=lambda: _free_memory(workers),
    sequential=spec.sequential,
  )
  while True:
    try:
      method, arguments = connection.recv()
    except EOFError:
      return
    _answer(server, method, arguments, send, remote=bool(workers))


def _free_memory(workers: Iterable[int]) -> None:
  free_memory.trim()
  free_memory.ask(workers)


def _answer(server, method, arguments, send, *, remote: bool) -> None:
  try:
    value = getattr(server, method)(**arguments)
  except Exception as error:  # all that TensorFlow can raise is an answer
    send('failed', failure_lib.classify(error, remote=remote))
  else:
    send('result', value)


def _start_workers(
  connection: multiprocessing.connection.Connection,
  spec: lane_spec.LaneSpec,
) -> tuple[str, dict[int, int]]:
  """Forks the workers; returns the session target and {pid: index}."""
  cores, limits = spec.layout.worker_cores, spec.layout.memory_limits
  if not cores:
    os.sched_setaffinity(0, spec.layout.host_cores)
    if spec.layout.logical_cpus == 1:  # logical devices share an allocator
      memory_cap.apply(limits.get(_CPU))
    return '', {}
  addresses = [f'127.0.0.1:{port}' for port in _free_ports(len(cores))]
  workers = {}
  for index, members in enumerate(cores):
    pid = worker_process.fork(
      index,
      addresses,
      members,
      limits.get(f'/job:worker/replica:0/task:{index}/device:CPU:0'),
      spec.worker_log(index),
      [connection.fileno()],
    )
    workers[pid] = index
  return f'grpc://{addresses[0]}', workers


def _free_ports(count: int) -> list[int]:
  """Ports nobody listens on; in the namespace only this tree could."""
  sockets = [socket.socket() for _ in range(count)]
  try:
    for each in sockets:
      each.bind(('127.0.0.1', 0))
    return [each.getsockname()[1] for each in sockets]
  finally:
    for each in sockets:
      each.close()


def _watch(workers: dict[int, int], send) -> None:
  pid, status = os.waitpid(-1, 0)
  send('worker_died', (workers.get(pid, -1), status))
