"""The tables of learned policies: a run of each kind, and the text."""

import dataclasses
import pathlib

from absl.testing import absltest

from benchmarks import learned_ablations
from benchmarks import learned_table
from benchmarks import learned_table_text
from placer.policies import registry
from placer.testing import known_optima


def _run(policy, step_seconds, seed=0, **more):
  return {
    'model': 'm',
    'devices': 'simulated:k80x2',
    'policy': policy,
    'seed': seed,
    'step_seconds': step_seconds,
    'wall_seconds': 1.0,
    **more,
  }


class LearnedTableTest(absltest.TestCase):
  def test_planners_and_bound(self):
    problem, seconds = known_optima.cases()['two chains']
    for policy in ('single_device', 'annealing', learned_table.BOUND):
      found = learned_table.measure(problem, policy, 0, 1)
      expected = 8.0 if policy == 'single_device' else seconds
      self.assertAlmostEqual(found['step_seconds'], expected)

  def test_a_learned_policy(self):
    problem, seconds = known_optima.cases()['chain']
    found = learned_table.measure(problem, 'seq2seq', 0, 1)
    # The first proposal is the warm start, which has the single devices.
    self.assertAlmostEqual(found['step_seconds'], seconds)
    self.assertEqual(found['samples'], found['samples_to_near'])
    self.assertLen(found['curve'], 1)

  def test_the_text(self):
    learned = {
      'samples': 64,
      'samples_to_near': 32,
      'curve': [(8, 0.004), (100, 0.002)],
    }
    text = learned_table_text.render(
      [
        _run('lower_bound', 0.001),
        _run('annealing', 0.002),
        _run('new_policy', 0.0021, **learned),
        _run('seq2seq', 0.002, **learned),
        _run('seq2seq', 0.003, 1, **learned),
        _run('expert', None),
      ]
    )
    header, _, row = [
      line for line in text.splitlines() if line.startswith('|')
    ][:3]
    self.assertIn('expert | annealing | seq2seq | new_policy | lower', header)
    self.assertIn('does not run | 2.0 | 2.5 (3.0; 2) | 2.1 | 1.0 |', row)
    self.assertIn('| m, k80x2 | 1.250 | 1.050 |', text)
    self.assertIn('| m, k80x2 | seq2seq | 2.000 | 1.000 |', text)
    self.assertIn('| m, k80x2 | 32 of 64, 1 s | 32 of 64, 1 s |', text)

  def test_notes_below_the_tables_are_kept(self):
    file = pathlib.Path(self.create_tempdir().full_path) / 'table.md'
    self.assertEqual(learned_table_text.notes(file), '')
    file.write_text('| old |\n\n## What it says\n\n## More\n')
    self.assertEqual(
      learned_table_text.notes(file), '\n## What it says\n\n## More\n'
    )

  def test_a_line_that_was_cut_off_is_left_out(self):
    file = pathlib.Path(self.create_tempdir().full_path) / 'runs'
    self.assertEqual(learned_table_text.read(file), [])
    file.write_text('{"a": 1}\n{"a": ')
    self.assertEqual(learned_table_text.read(file), [{'a': 1}])


class LearnedAblationsTest(absltest.TestCase):
  def test_each_variant_changes_what_it_says(self):
    for policy in ('seq2seq', 'grouper_placer'):
      default = registry.get(policy).configs['default']
      for variant, changes in learned_ablations.CHANGES.items():
        found = learned_ablations.config_of(policy, variant)
        for name, value in changes.items():
          self.assertNotEqual(getattr(default.learning, name), value)
        learning = dataclasses.replace(default.learning, **changes)
        self.assertEqual(found.learning, learning)

  def test_the_text(self):
    run = _run('seq2seq', 0.002, samples=64, variant='no elites')
    text = learned_ablations.render([run])
    self.assertIn('| no elites | 2.0 |', text)
    self.assertIn('after 64 samples', text)


if __name__ == '__main__':
  absltest.main()
