"""Tests of learner.py: it learns, it resumes to the bit, it measures few."""

import dataclasses
import pathlib
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from placer.core import errors
from placer.policies import planning_costs
from placer.policies.learning import evaluation
from placer.policies.learning import training
from placer.policies.placeto import config
from placer.policies.placeto import learner
from placer.testing import killed_training
from placer.testing import problems

_TINY = config.PlacetoConfig(
  hidden=8,
  rounds=1,
  episodes=4,
  graphs=2,
  epochs=2,
  reward_every=1,
  opening=0,
  warm_start=(),
  updates=60,
  learning_rate_first=1e-2,
  learning_rate_last=1e-3,
  pretrained=False,
)


def _with_costs(problem):
  return dataclasses.replace(problem, costs=planning_costs.of_problem(problem))


def _graphs():
  linked = problems.topology(2, linked=True)
  return [
    _with_costs(problems.two_chains(3, devices=linked)),
    _with_costs(problems.chain(5, devices=linked)),
    _with_costs(problems.fork_join(3, 2, devices=3)),
  ]


def _trainer(graphs, settings=_TINY, folder=None, seed=0, on_update=None):
  evaluator = evaluation.Simulated(graphs)
  references = [
    evaluation.reference_seconds(problem, evaluator, i)
    for i, problem in enumerate(graphs)
  ]
  made = learner.PlacetoLearner(graphs, settings, seed, references)
  return training.Trainer(
    made,
    evaluator,
    folder=folder,
    checkpoint_updates=3,
    on_update=on_update,
  )


class PlacetoLearnerTest(absltest.TestCase):
  def test_both_networks_find_the_best_of_two_chains(self):
    papers = dataclasses.replace(
      config.paper(), rounds=2, seconds_per_gb=None, most_seconds=None
    )
    ours = dataclasses.replace(
      _TINY, graphs=1, order='topological', restart=1.0
    )
    for settings in (papers, ours):
      trainer = _trainer(_graphs()[:1], settings)
      trainer.run(samples=200)
      best = trainer.best[0].candidates[0]
      self.assertLen(set(best[:3].tolist()), 1)
      self.assertLen(set(best[3:].tolist()), 1)
      self.assertNotEqual(best[0], best[3])

  def test_equal_seeds_learn_the_same(self):
    curves = []
    for seed in (0, 0, 1):
      trainer = _trainer(_graphs(), seed=seed)
      trainer.run(samples=60)
      curves.append(trainer.curve)
    self.assertEqual(curves[0], curves[1])
    self.assertNotEqual(curves[0], curves[2])

  def test_goes_on_to_the_bit_also_within_a_round(self):
    whole = _trainer(_graphs(), folder=self.create_tempdir().full_path)
    whole.run(samples=120)
    folder = self.create_tempdir().full_path
    # The checkpoint is of every third update, a round has two graphs.
    stopped = _trainer(_graphs(), folder=folder)
    stopped.run(samples=60)
    steps = sorted(
      p.name for p in pathlib.Path(folder, 'checkpoints').glob('s*')
    )
    self.assertNotEmpty(steps)
    resumed = _trainer(_graphs(), folder=folder)
    self.assertGreater(resumed.updates, 0)
    resumed.run(samples=120)
    self.assertEqual(resumed.curve, whole.curve)
    for one, other in zip(
      whole.learner.network.trainable_variables,
      resumed.learner.network.trainable_variables,
      strict=True,
    ):
      np.testing.assert_array_equal(one, other)

  def test_goes_on_to_the_bit_where_tracing_begins(self):
    self.enter_context(mock.patch.object(learner, '_ROUNDS_UNTRACED', 4))
    whole = _trainer(_graphs(), folder=self.create_tempdir().full_path)
    whole.run(samples=120)
    self.assertGreater(whole.learner.sample.experimental_get_tracing_count(), 0)
    folder = self.create_tempdir().full_path
    _trainer(_graphs(), folder=folder).run(samples=60)
    resumed = _trainer(_graphs(), folder=folder)
    resumed.run(samples=120)
    self.assertEqual(resumed.curve, whole.curve)

  def test_a_killed_run_goes_on_to_the_bit(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    whole, killed = folder / 'whole', folder / 'killed'
    _trainer(_graphs(), folder=whole).run(samples=200)
    killed_training.run_and_kill(__file__, killed)
    resumed = _trainer(_graphs(), folder=killed)
    self.assertBetween(resumed.updates, 1, killed_training.KILLED_AFTER)
    resumed.run(samples=200)
    self.assertEqual(
      (killed / 'curve.jsonl').read_text(), (whole / 'curve.jsonl').read_text()
    )

  def test_refuses_a_checkpoint_of_another_configuration(self):
    folder = self.create_tempdir().full_path
    _trainer(_graphs(), folder=folder).run(samples=60)
    other = dataclasses.replace(_TINY, rounds=2, discount=0.5)
    with self.assertRaisesRegex(
      errors.UsageError, r'discount.*0\.97.*0\.5.*rounds'
    ):
      _trainer(_graphs(), other, folder=folder)

  def test_refuses_too_many_groups(self):
    with self.assertRaisesRegex(errors.UsageError, r'1024.*1100.*--max_groups'):
      _trainer([_with_costs(problems.chain(1100))])

  def test_proposes_few_last_states_to_measure(self):
    made = _trainer(_graphs()[:1]).learner
    proposal = made.propose(0, measured=True)
    self.assertLen(proposal.candidates, _TINY.measured_episodes)
    before = [tf.identity(v) for v in made.network.trainable_variables]
    outcomes = evaluation.Simulated(made.problems)(0, proposal.candidates)
    metrics = made.learn(proposal, outcomes)
    self.assertContainsSubset(
      ('reward', 'baseline', 'entropy', 'gradient_norm'), metrics
    )
    after = made.network.trainable_variables
    changed = [
      (old.numpy() != new.numpy()).any()
      for old, new in zip(before, after, strict=True)
    ]
    self.assertTrue(any(changed))

  def test_opening_goes_on_without_learning(self):
    settings = dataclasses.replace(_TINY, graphs=1, opening=2)
    trainer = _trainer(_graphs()[:1], settings)
    before = [v.numpy() for v in trainer.learner.network.trainable_variables]
    for update in range(2):
      proposal = trainer.learner.propose(update)
      # The start and the last states.
      self.assertLessEqual(len(proposal.candidates), 1 + _TINY.episodes)
      outcomes = evaluation.Simulated(trainer.learner.problems)(
        0, proposal.candidates
      )
      trainer.learner.learn(proposal, outcomes)
    for old, new in zip(
      before, trainer.learner.network.trainable_variables, strict=True
    ):
      np.testing.assert_array_equal(old, new)

  def test_all_states_count_as_samples(self):
    trainer = _trainer(_graphs()[:1], dataclasses.replace(_TINY, graphs=1))
    proposal = trainer.learner.propose(0)
    for before, after in zip(proposal.candidates, proposal.candidates[1:]):
      self.assertLessEqual((before != after).sum(), len(before))
    self.assertGreaterEqual(len(proposal.candidates), _TINY.episodes)
    self.assertLessEqual(len(proposal.candidates), _TINY.episodes * 7)


if __name__ == '__main__':
  child = killed_training.child_folder()
  if child:
    _trainer(
      _graphs(),
      folder=child,
      on_update=killed_training.wait_to_be_killed,
    ).run(samples=200)
  else:
    absltest.main()
