import os
import pathlib
import platform
import subprocess
import sys

from absl.testing import absltest

from placer.measurers.processes import thread_cores

# A process with three named threads, which tells when they are there.
_WORKER = """
import ctypes, sys, threading
stay = threading.Event()
ready = threading.Barrier(len(sys.argv))
libc = ctypes.CDLL(None)
def work(name):
  libc.prctl(15, name.encode(), 0, 0, 0)
  ready.wait()
  stay.wait()
for name in sys.argv[1:]:
  threading.Thread(target=work, args=(name,), daemon=True).start()
ready.wait()
print('ready', flush=True)
sys.stdin.read()
"""


def _linux_version() -> tuple[int, ...]:
  return tuple(int(part) for part in platform.release().split('.')[:2])


def _read(path: pathlib.Path) -> str:
  return path.read_text() if path.exists() else ''


class ThreadCoresTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.cores = os.sched_getaffinity(0)
    if len(self.cores) < 2:
      self.skipTest('Needs two cores.')
    self.one = {min(self.cores)}

  def _start(self, *threads: str) -> int:
    process = subprocess.Popen(
      [sys.executable, '-c', _WORKER, *threads],
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
    )
    self.addCleanup(process.wait)
    self.addCleanup(process.stdin.close)
    self.addCleanup(process.stdout.close)
    process.stdout.readline()
    return process.pid

  def _cores(self, pid: int) -> dict[str, list[set[int]]]:
    """{name of a thread: the cores of each thread of that name}."""
    found: dict[str, list[set[int]]] = {}
    for folder in pathlib.Path(f'/proc/{pid}/task').iterdir():
      name = (folder / 'comm').read_text().strip()
      found.setdefault(name, []).append(os.sched_getaffinity(int(folder.name)))
    return found

  def _slices(self, pid: int) -> dict[str, int]:
    """{name of a thread: its time slice in nanoseconds}; {} if not shown."""
    found = {}
    for folder in pathlib.Path(f'/proc/{pid}/task').iterdir():
      for line in _read(folder / 'sched').splitlines():
        if line.startswith('se.slice'):
          found[_read(folder / 'comm').strip()] = int(line.split(':')[1])
    return found

  def test_only_compute_threads_stay_on_the_workers_cores(self):
    pid = self._start('tf_Compute', 'grpc', 'tf_Compute')
    thread_cores.assign({pid: self.one}, self.cores)
    found = self._cores(pid)
    self.assertEqual(found['tf_Compute'], [self.one] * 2)
    self.assertEqual(found['grpc'], [self.cores])

  def test_only_network_threads_get_short_slices(self):
    pid = self._start('tf_Compute', 'grpc')
    if not self._slices(pid) or _linux_version() < (6, 12):
      self.skipTest('Needs Linux 6.12 or newer that shows slices.')
    usual = self._slices(pid)['tf_Compute']
    thread_cores.assign({pid: self.one}, self.cores)
    slices = self._slices(pid)
    self.assertEqual(slices['tf_Compute'], usual)
    self.assertEqual(slices['grpc'], 100_000)

  def test_without_compute_threads_nothing_changes(self):
    pid = self._start('grpc')
    for thread in pathlib.Path(f'/proc/{pid}/task').iterdir():
      os.sched_setaffinity(int(thread.name), self.one)
    thread_cores.assign({pid: self.one}, self.cores)
    self.assertEqual(self._cores(pid)['grpc'], [self.one])

  def test_a_process_that_is_gone_is_no_fault(self):
    process = subprocess.Popen([sys.executable, '-c', ''])
    process.wait()
    thread_cores.assign({process.pid: self.one}, self.cores)


if __name__ == '__main__':
  absltest.main()
