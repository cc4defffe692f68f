"""Tests of policy.py: suggests without training, learns, goes on measured."""

import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import trial
from placer.policies import planning_costs
from placer.policies import registry
from placer.policies.placeto import config
from placer.policies.placeto import objective
from placer.policies.placeto import policy
from placer.testing import fake_measurer
from placer.testing import policy_contract
from placer.testing import problems

_QUICK = config.PlacetoConfig(episodes=4, epochs=1, pretrain_samples=60)
_TINY = config.PlacetoConfig(
  hidden=4,
  rounds=1,
  epochs=1,
  measured_episodes=2,
  zero_shot_rounds=1,
  warm_start=(),
  pretrain_samples=40,
  pretrained=False,
)


def _problem(**options):
  linked = problems.topology(2, linked=True)
  made = problems.two_chains(3, devices=linked, **options)
  return dataclasses.replace(made, costs=planning_costs.of_problem(made))


class ContractTest(policy_contract.PolicyContract, absltest.TestCase):
  policy_name = 'placeto'

  def make(self, problem, seed=0):
    return policy.Placeto(problem, seed=seed, config=_TINY)


class PlacetoTest(absltest.TestCase):
  def test_is_registered(self):
    self.assertIs(registry.get('placeto'), policy.Placeto)
    self.assertTrue(policy.Placeto.supports_many_graphs)

  def test_first_suggestion_is_zero_shot_and_splits_two_chains(self):
    problem = _problem()
    made = policy.Placeto(problem, config=_QUICK)
    first = made.suggest(1)[0]
    self.assertIn('zero-shot', first.label)
    seconds = objective.Objective(problem).seconds(
      np.stack([first.candidate, np.zeros(6, int)])
    )
    self.assertLess(seconds[0], 0.8 * seconds[1])

  def test_the_papers_configuration_learns_first(self):
    settings = dataclasses.replace(
      config.paper(), rounds=1, pretrain_samples=60
    )
    made = policy.Placeto(_problem(), config=settings)
    for suggestion in made.suggest(2):
      self.assertNotIn('zero-shot', suggestion.label)

  def test_learning_in_simulation_ends_when_hardly_anything_is_new(self):
    settings = dataclasses.replace(_QUICK, pretrain_samples=10**9, updates=4)
    made = policy.Placeto(_problem(), config=settings)
    labels = [made.suggest(1)[0].label for _ in range(6)]
    self.assertIn('zero-shot', labels[0])
    self.assertNotIn('zero-shot', labels[-1])

  def test_learns_from_what_is_measured(self):
    problem = dataclasses.replace(_problem(), costs=None)
    made = policy.Placeto(problem, config=_QUICK)
    measurer = fake_measurer.FakeMeasurer(noise=0, drift=0)
    metrics = {}
    for _ in range(8):
      suggestions = made.suggest(4)
      rows = np.array([each.candidate for each in suggestions], np.int32)
      trials = [
        trial.Trial(i, 'placeto', row, found)
        for i, (row, found) in enumerate(
          zip(rows, measurer.measure(problem, rows), strict=True)
        )
      ]
      metrics = made.update(trials) or metrics
      if not suggestions:
        break
    self.assertIn('entropy', metrics)


if __name__ == '__main__':
  absltest.main()
