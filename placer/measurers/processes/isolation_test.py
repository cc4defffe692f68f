import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

from absl.testing import absltest

_ROOT = pathlib.Path(__file__).resolve().parents[3]


def _run(code: str) -> subprocess.Popen:
  return subprocess.Popen(
    [sys.executable, '-c', textwrap.dedent(code)],
    stdout=subprocess.PIPE,
    text=True,
    cwd=_ROOT,
  )


class IsolationTest(absltest.TestCase):
  def test_a_namespace_has_a_loopback_of_its_own(self):
    process = _run("""
        import os, socket
        from placer.measurers.processes import isolation
        user = os.getuid()
        try:
          isolation.enter_network_namespace()
        except OSError as error:
          print('forbidden', error)
          raise SystemExit
        server = socket.create_server(('127.0.0.1', 0))
        socket.create_connection(server.getsockname()).close()
        names = [name for _, name in socket.if_nameindex()]
        print(os.readlink('/proc/self/ns/net'), names, os.getuid() == user)
        """)
    output, _ = process.communicate(timeout=60)
    if output.startswith('forbidden'):
      self.skipTest(output)
    self.assertNotIn(os.readlink('/proc/self/ns/net'), output)
    self.assertIn("['lo'] True", output)

  def test_a_child_dies_with_its_parent(self):
    process = _run("""
        import os, time
        from placer.measurers.processes import isolation
        parent = os.getpid()
        child = os.fork()
        if not child:
          isolation.die_with_parent(parent)
          time.sleep(60)
        print(child, flush=True)
        time.sleep(60)
        """)
    child = int(process.stdout.readline())
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    for _ in range(50):
      time.sleep(0.1)
      if not _runs(child):
        return
    self.fail(f'Process {child} is still there.')


def _runs(pid: int) -> bool:
  try:
    text = pathlib.Path(f'/proc/{pid}/stat').read_text()
  except OSError:
    return False
  return text.rpartition(')')[2].split()[0] != 'Z'


if __name__ == '__main__':
  absltest.main()
