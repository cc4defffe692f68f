import threading

from absl.testing import absltest

from placer.measurers.processes import memory_watch

_LOG = (
  'I0000 00:00:1 port.cc:153] oneDNN custom operations are on.\n'
  'W0000 00:00:2 bfc_allocator.cc:511] Allocator (mklcpu) ran out of memory '
  'trying to allocate 16.00MiB (rounded to 16777216) requested by op x\n'
)


class MemoryWatchTest(absltest.TestCase):
  def test_finds_the_words_of_the_allocator(self):
    self.assertStartsWith(
      memory_watch.find(_LOG),
      'Allocator (mklcpu) ran out of memory trying to allocate 16.00MiB',
    )
    self.assertEqual(memory_watch.find(_LOG.splitlines()[0]), '')

  def test_tells_which_worker_it_was(self):
    logs = [self.create_tempfile(content=''), self.create_tempfile(content='')]
    told = []
    watcher = threading.Thread(
      target=memory_watch.watch,
      args=([log.full_path for log in logs], lambda *args: told.append(args)),
    )
    watcher.start()
    logs[1].write_text(_LOG)
    watcher.join(20)
    self.assertLen(told, 1)
    self.assertEqual(told[0][0], 1)


if __name__ == '__main__':
  absltest.main()
