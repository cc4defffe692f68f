"""Tests of placeto_generalisation_text.py."""

import pathlib

from absl.testing import absltest

from benchmarks import placeto_generalisation_text as text


def _run(graph, policy, step):
  return {
    'family': 'tiny',
    'devices': 'simulated:k80x2',
    'graph': graph,
    'policy': policy,
    'step_seconds': step,
    'wall_seconds': 1.5,
  }


_RUNS = [
  _run('g0', 'm_etf', 2.0),
  _run('g0', 'annealing', 1.0),
  _run('g0', 'zero_shot', 1.1),
  _run('g0', 'optimised', 1.0),
  _run('g1', 'm_etf', 4.0),
  _run('g1', 'annealing', None),
  _run('g1', 'zero_shot', 3.0),
  _run('g2', 'zero_shot', 3.0),
]


class TextTest(absltest.TestCase):
  def test_ratios_to_the_best_planner_of_each_graph(self):
    found = text.ratios(_RUNS)['tiny', 'simulated:k80x2']
    self.assertEqual(found['annealing'], {'g0': 1.0})
    self.assertEqual(found['m_etf'], {'g0': 2.0, 'g1': 1.0})
    # No planner ran on g2, so there is nothing to compare with.
    self.assertEqual(found['zero_shot'], {'g0': 1.1, 'g1': 0.75})

  def test_table_and_plots(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    text.write(_RUNS, folder)
    table = (folder / 'placeto_generalisation.md').read_text()
    self.assertIn('| zero_shot | 2 | 0.925 | 0.925 | 1.100 | 1.100 |', table)
    self.assertTrue((folder / 'placeto_tiny_k80x2.svg').exists())


if __name__ == '__main__':
  absltest.main()
