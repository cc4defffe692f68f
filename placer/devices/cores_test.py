import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from placer.devices import cores


class CoresTest(parameterized.TestCase):
  def test_usable_are_sorted_and_some(self):
    usable = cores.usable()
    self.assertNotEmpty(usable)
    self.assertEqual(list(usable), sorted(set(usable)))

  @parameterized.parameters(
    ('0-3,8', (0, 1, 2, 3, 8)), ('5', (5,)), ('', ()), ('0-1\n', (0, 1))
  )
  def test_parse_list(self, text, expected):
    self.assertEqual(cores.parse_list(text), expected)

  def test_numa_nodes_keep_only_usable_cores(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    for name, text in (('node0', '0-3'), ('node1', '4-7'), ('node10', '8-9')):
      (root / name).mkdir()
      (root / name / 'cpulist').write_text(text)
    (root / 'power').mkdir()
    self.assertEqual(cores.numa_nodes((1, 2, 5, 8), root), ((1, 2), (5,), (8,)))
    self.assertEqual(cores.numa_nodes((0, 20), root), ((0,), (20,)))

  def test_without_nodes_all_cores_are_one(self):
    nowhere = pathlib.Path(self.create_tempdir().full_path) / 'none'
    self.assertEqual(cores.numa_nodes((0, 1), nowhere), ((0, 1),))

  @parameterized.parameters(
    # A worker a socket.
    ([(0, 1), (2, 3)], 2, ((0, 1), (2, 3))),
    ([(0, 1, 2, 3)], 2, ((0, 1), (2, 3))),
    # Interleaved numbering still gives whole sockets.
    ([(0, 2), (1, 3)], 2, ((0, 2), (1, 3))),
    # One worker must cross the sockets.
    ([(0, 1), (2, 3)], 1, ((0, 1, 2, 3),)),
    # 4 + 4 cores for 3 workers: two each, none across.
    (
      [(0, 1, 2, 3), (4, 5, 6, 7)],
      3,
      ((0, 1), (2, 3), (4, 5)),
    ),
    ([(0, 1, 2)], 2, ((0,), (1,))),
  )
  def test_share(self, nodes, workers, expected):
    self.assertEqual(cores.share(nodes, workers), expected)


if __name__ == '__main__':
  absltest.main()
