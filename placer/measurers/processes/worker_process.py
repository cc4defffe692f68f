"""A worker: one TensorFlow server on cores of its own, forked by a lane."""

import os
import signal
from collections.abc import Sequence

import tensorflow as tf

from placer.measurers.processes import free_memory
from placer.measurers.processes import isolation
from placer.measurers.processes import memory_cap

# Sends are served by the inter-op pool: while each of its threads computes, a
# finished tensor waits. 16 were as fast as any number, also on one core
# (DESIGN §3.12).
_INTER_OP_THREADS = 16


def fork(
  index: int,
  addresses: Sequence[str],
  cores: Sequence[int],
  memory_bytes: int | None,
  log_path: str,
  close: Sequence[int],
) -> int:
  """Forks a worker.

  Args:
    index: its task in job 'worker'.
    addresses: 'host:port' of all workers.
    cores: the cores it may use.
    memory_bytes: what its tensors may take, None for no limit.
    log_path: file that gets what it prints.
    close: file descriptors that it must not keep.

  Returns:
    Its process id.
  """
  parent = os.getpid()
  pid = os.fork()
  if pid:
    return pid
  try:
    isolation.die_with_parent(parent)
    for descriptor in close:
      os.close(descriptor)
    redirect_output(log_path)
    _serve(index, addresses, cores, memory_bytes)
  finally:
    os._exit(1)
  return 0


def redirect_output(log_path: str) -> None:
  """Has this process print to a file."""
  log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
  os.dup2(log, 1)
  os.dup2(log, 2)
  os.close(log)


def _serve(
  index: int,
  addresses: Sequence[str],
  cores: Sequence[int],
  memory_bytes: int | None,
) -> None:
  os.sched_setaffinity(0, cores)
  memory_cap.apply(memory_bytes)
  free_memory.trim_when_asked()
  config = tf.compat.v1.ConfigProto(
    inter_op_parallelism_threads=_INTER_OP_THREADS,
    intra_op_parallelism_threads=len(cores),
    device_count={'CPU': 1, 'GPU': 0},
  )
  server = tf.distribute.Server(
    {'worker': list(addresses)},
    job_name='worker',
    task_index=index,
    config=config,
  )
  del server  # a TensorFlow server lives until the process ends
  while True:
    signal.pause()
