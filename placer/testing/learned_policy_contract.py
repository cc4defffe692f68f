"""What each policy that places a graph in one go has to keep, written once.

    class MyPolicyTest(
      learned_policy_contract.LearnedPolicyContract, absltest.TestCase
    ):
      kind = policy.MyPolicy
      config = tiny config

With the tests of `policy_contract.py`. Everything runs eagerly: tracing takes
seconds for each of the many small problems.
"""

import dataclasses
import pathlib
import sys
from typing import Any

import numpy as np
import tensorflow as tf

from placer.core import errors
from placer.core import trial
from placer.policies.learning import evaluation
from placer.policies.learning import policy_gradient
from placer.policies.learning import training
from placer.testing import fake_measurer
from placer.testing import killed_training
from placer.testing import known_optima
from placer.testing import policy_contract
from placer.testing import problems

_SAMPLES = 4096
_SEEDS = 5
_UPDATES = 8


class LearnedPolicyContract(policy_contract.PolicyContract):
  """Mixed into a TestCase; see the module docstring.

  Attributes:
    kind: the LearnedPolicy.
    config: a small one that starts from scratch.
  """

  kind: Any = None
  config: Any = None

  def setUp(self):
    super().setUp()
    self.policy_name = self.kind.name
    tf.config.run_functions_eagerly(True)
    self.addCleanup(tf.config.run_functions_eagerly, False)

  def make(self, problem, seed=0):
    # Imitating the best takes half of the time, and is in the tests below.
    learning = dataclasses.replace(self.config.learning, elites=0)
    config = dataclasses.replace(self.config, learning=learning)
    return self.kind(problem, seed=seed, config=config)

  def test_finds_known_optima_from_every_seed(self):
    for name, (problem, seconds) in known_optima.cases().items():
      evaluator = evaluation.Simulated([problem])
      for seed in range(_SEEDS):
        with self.subTest(name, seed=seed):
          trainer = training.Trainer(self._learner(problem, seed), evaluator)
          while trainer.samples < _SAMPLES:
            trainer.run(samples=trainer.samples + 1)
            if trainer.best[0].best_seconds < seconds * 1.001:
              break
          self.assertAlmostEqual(trainer.best[0].best_seconds, seconds)

  def test_gradients_reach_all_networks_and_are_those_of_differences(self):
    problem, _ = known_optima.cases()['two chains']
    network = self._learner(problem, 1)._network
    _randomise(network.trainable_variables)
    _, chosen = network.sample(tf.constant([1, 1]), 4, False)
    weights = np.random.default_rng(0).normal(size=(4, 1)).astype(np.float32)

    def loss():
      scores = network.score(chosen)
      return tf.reduce_sum(
        weights * (scores.log_probs + 0.5 * scores.entropies) * scores.counts
      )

    with tf.GradientTape() as tape:
      value = loss()
    variables = network.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(value, variables)):
      self.assertIsNotNone(gradient, variable.name)
      gradient = tf.convert_to_tensor(gradient).numpy()
      # The entry with the largest gradient. Float32 allows for 1 % or so;
      # larger changes cross kinks of ReLU.
      index = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
      before, ends = variable.numpy(), []
      for change in (1e-3, -1e-3):
        moved = before.copy()
        moved[index] += change
        variable.assign(moved)
        ends.append(float(loss()))
      variable.assign(before)
      self.assertAlmostEqual(
        float(gradient[index]),
        (ends[0] - ends[1]) / 2e-3,
        delta=2e-2 + 0.03 * abs(float(gradient[index])),
        msg=variable.name,
      )

  def test_weights_depend_on_the_seed_and_on_nothing_global(self):
    problem, _ = known_optima.cases()['chain']

    def weights(seed):
      network = self._learner(problem, seed)._network
      return np.concatenate(
        [variable.numpy().ravel() for variable in network.trainable_variables]
      )

    tf.random.set_seed(5)
    expected = tf.random.uniform([4]).numpy()
    tf.random.set_seed(5)
    first = weights(0)
    np.testing.assert_array_equal(tf.random.uniform([4]), expected)
    np.testing.assert_array_equal(weights(0), first)
    self.assertGreater(np.abs(weights(1) - first).max(), 0)

  def test_explains_the_placements_it_is_given(self):
    for name, problem in policy_contract.cases().items():
      if not problem.num_groups:
        continue
      with self.subTest(name):
        network = self._learner(problem, 0)._network
        for choice in range(3):
          rng = np.random.default_rng(choice)
          candidate = np.array(
            [rng.choice(np.flatnonzero(row)) for row in problem.allowed],
            np.int32,
          )
          scores = network.score(network.explain(candidate))
          self.assertGreater(float(tf.reduce_min(scores.log_probs)), -100)

  def test_starts_from_the_best_warm_placement(self):
    problem, seconds = known_optima.cases()['chain']
    learning = dataclasses.replace(
      self.config.learning, warm_start=('round_robin', 'single_device')
    )
    learner = self._learner(problem, 0, learning=learning)
    evaluator = evaluation.Simulated([problem])
    trainer = training.Trainer(learner, evaluator)
    trainer.run(samples=1)
    self.assertAlmostEqual(trainer.best[0].best_seconds, seconds)
    # What it would answer, the last of a proposal, is now that placement.
    outcomes = evaluator(0, learner.propose(1).candidates[-1:])
    self.assertAlmostEqual(float(outcomes.step_seconds[0]), seconds)

  def test_learns_from_measured_trials(self):
    # The contract's problems have no costs: each trial here is measured.
    problem = problems.two_chains(3, devices=problems.topology(2, linked=True))
    policy = self.make(problem)
    metrics = {}
    for _ in range(6):
      suggestions = policy.suggest(self.config.learning.measured_samples)
      if not suggestions:
        break
      rows = np.stack([each.candidate for each in suggestions])
      measured = fake_measurer.FakeMeasurer(noise=0, drift=0).measure(
        problem, rows
      )
      metrics = policy.update(
        [
          trial.Trial(i, policy.name, row, found)
          for i, (row, found) in enumerate(zip(rows, measured))
        ]
      )
    self.assertIn('gradient_norm', metrics)

  def test_a_killed_run_goes_on_to_the_bit(self):
    problem, _ = known_optima.cases()['fork-join']
    folder = pathlib.Path(self.create_tempdir().full_path)
    whole, killed = folder / 'whole', folder / 'killed'
    self.train(problem, whole)
    killed_training.run_and_kill(_file_of(type(self)), killed)
    self.train(problem, killed)
    self.assertEqual(
      (killed / 'curve.jsonl').read_text(), (whole / 'curve.jsonl').read_text()
    )

  def test_a_checkpoint_of_another_configuration_is_refused(self):
    problem, _ = known_optima.cases()['chain']
    folder = pathlib.Path(self.create_tempdir().full_path)
    self.train(problem, folder, updates=1)
    with self.assertRaisesRegex(errors.UsageError, r'config\.type_embedding'):
      training.Trainer(
        self._learner(problem, 0, type_embedding=3), None, folder=folder
      )

  @classmethod
  def train(
    cls, problem, folder, updates: int = _UPDATES, on_update=None
  ) -> None:
    """Trains with checkpoints in a folder, or goes on there."""
    training.Trainer(
      cls._learner(problem, 0),
      evaluation.Simulated([problem]),
      folder=folder,
      checkpoint_updates=3,
      on_update=on_update,
    ).run(samples=updates * cls.config.learning.samples)

  @classmethod
  def _learner(cls, problem, seed, **changes) -> policy_gradient.PolicyGradient:
    reference = 1.0
    if problem.costs is not None:
      reference = evaluation.reference_seconds(
        problem, evaluation.Simulated([problem])
      )
    config = dataclasses.replace(cls.config, **changes)
    return cls.kind.make_learner([problem], config, seed, [reference])


def run_child(test_case: type[LearnedPolicyContract]) -> bool:
  """Trains instead of testing where the command line says so.

  Args:
    test_case: the contract's subclass.

  Returns:
    Whether this process is the one that is to be killed.
  """
  folder = killed_training.child_folder()
  if folder is None:
    return False
  tf.config.run_functions_eagerly(True)
  problem, _ = known_optima.cases()['fork-join']
  test_case.train(problem, folder, on_update=killed_training.wait_to_be_killed)
  return True


def _file_of(test_case: type) -> str:
  return sys.modules[test_case.__module__].__file__


def _randomise(variables) -> None:
  """Large enough that every gradient is, too."""
  rng = np.random.default_rng(0)
  for variable in variables:
    variable.assign(rng.normal(0, 0.5, variable.shape))
