"""`placer train`: it trains, goes on, and place takes what was learned."""

import contextlib
import io
import json
import pathlib
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from placer.cli import main
from placer.core import placement
from placer.policies.learning import evaluation
from placer.problems import costs
from placer.testing import graphs

_DEVICES = '--devices=simulated:k80x2+cpu_core'


def _placer(*arguments: str) -> tuple[int, str]:
  """(exit code, what was printed)."""
  printed = io.StringIO()
  with (
    contextlib.redirect_stdout(printed),
    contextlib.redirect_stderr(printed),
  ):
    code = main.main(['placer', *map(str, arguments)])
  return code, printed.getvalue()


class TrainTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.out = self.folder / 'out'
    self.graph = self.folder / 'fork.pb'
    self.graph.write_bytes(graphs.fork_join().SerializeToString())

  def _train(self, *arguments: str) -> tuple[int, str]:
    return _placer(
      'train',
      _DEVICES,
      '--policy=seq2seq',
      f'--output_dir={self.out}',
      *arguments,
    )

  def test_trains_goes_on_and_is_placed_with(self):
    code, text = self._train(f'--graph={self.graph}', '--budget_samples=70')
    self.assertEqual(code, 0, text)
    self.assertIn('samples | fork', text)
    summary = json.loads((self.out / 'train.json').read_text())
    self.assertEqual(summary['times_are'], 'simulated')
    (found,) = summary['graphs']
    self.assertGreaterEqual(found['speedup'], 1.0)
    placed = placement.load(self.out / 'placements' / 'fork.json')
    self.assertNotEmpty(placed.devices)
    self.assertNotEmpty(list((self.out / 'events').iterdir()))

    lines = (self.out / 'curve.jsonl').read_text()
    code, text = self._train(f'--graph={self.graph}', '--budget_samples=140')
    self.assertEqual(code, 0, text)
    self.assertIn('Going on after', text)
    longer = (self.out / 'curve.jsonl').read_text()
    self.assertTrue(longer.startswith(lines))
    self.assertGreater(len(longer), len(lines))

    code, text = self._train(
      f'--graph={self.graph}', '--budget_samples=140', '--config=paper'
    )
    self.assertEqual(code, 1)
    self.assertIn('config.learning.algorithm', text)

    code, text = _placer(
      'place',
      _DEVICES,
      f'--graph={self.graph}',
      '--policy=seq2seq',
      '--budget_trials=8',
      '--budget_seconds=0',
      f'--checkpoint={self.out / "checkpoints"}',
      f'--output_dir={self.folder / "placed"}',
    )
    self.assertEqual(code, 0, text)
    trials = (self.folder / 'placed' / 'trials.jsonl').read_text()
    self.assertIn('"policy": "seq2seq"', trials)

  @parameterized.parameters(
    (('--policy=annealing', '--graph=x'), 'Learned are: grouper_placer'),
    (('--graphs=nowhere/*.pb',), 'matches no file'),
    (('--graphs=x', '--graph=y'), 'Pass one of'),
    (('--policy=nothing', '--graph=x'), 'Unknown policy'),
  )
  def test_what_makes_no_sense_says_what_would(self, arguments, said):
    code, text = self._train(*arguments)
    self.assertEqual(code, 1)
    self.assertIn(said, text)

  def test_one_graph_a_policy_that_learns_one(self):
    other = self.folder / 'other.pb'
    other.write_bytes(self.graph.read_bytes())
    code, text = self._train(f'--graphs={self.folder}/*.pb')
    self.assertEqual(code, 1)
    self.assertIn('matches 2', text)

  def test_place_refuses_flags_of_learned_policies_for_others(self):
    code, text = _placer(
      'place', f'--graph={self.graph}', _DEVICES, '--config=paper'
    )
    self.assertEqual(code, 1)
    self.assertIn('--config is for learned policies', text)

  def test_nothing_is_measured_in_simulation(self):
    from placer.measurers import session_measurer

    with mock.patch.object(
      session_measurer, 'SessionMeasurer', side_effect=AssertionError
    ):
      code, text = self._train(f'--graph={self.graph}', '--budget_samples=1')
    self.assertEqual(code, 0, text)

  def test_on_real_devices_it_learns_by_profiled_costs(self):
    arguments = (f'--graph={self.graph}', '--devices=local:2')
    with mock.patch.object(
      evaluation, 'Simulated', wraps=evaluation.Simulated
    ) as simulated:
      code, text = self._train(*arguments, '--budget_samples=1')
    self.assertEqual(code, 0, text)
    ((problem,),) = simulated.call_args.args
    assumed = costs.analytic(problem.graph, problem.devices)
    self.assertTrue((problem.costs.op_seconds != assumed.op_seconds).any())
    # Of the links in simulation only those that were measured have samples.
    self.assertNotEmpty(problem.devices.links[0].samples)

    code, text = _placer(
      'place',
      *arguments,
      '--policy=seq2seq',
      '--budget_trials=3',
      '--budget_seconds=0',
      f'--checkpoint={self.out / "checkpoints"}',
      f'--output_dir={self.folder / "placed"}',
    )
    self.assertEqual(code, 0, text)


if __name__ == '__main__':
  absltest.main()
