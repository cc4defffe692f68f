"""What every Policy has to keep, as tests written once.

    class ContractTest(policy_contract.PolicyContract, absltest.TestCase):
      policy_name = 'my_policy'

`placer/policies/policy_contract_test.py` does this for every policy that the
registry finds; a policy that needs another way to be made (a smaller network)
overrides `make`.
"""

from collections.abc import Sequence

import hypothesis
import numpy as np

from placer.core import measurement
from placer.core import placement_problem
from placer.core import trial
from placer.policies import base
from placer.policies import registry
from placer.testing import fake_measurer
from placer.testing import problems
from placer.testing import strategies

_FAILED = measurement.Measurement(
  measurement.Status.OUT_OF_MEMORY, 'no memory left'
)


def cases() -> dict[str, placement_problem.PlacementProblem]:
  """Small problems of every kind, by name."""
  second_only = np.ones((6, 2), bool)
  second_only[2, 0] = False
  no_choice = np.zeros((4, 3), bool)
  no_choice[np.arange(4), [0, 2, 2, 1]] = True
  return {
    'chain': problems.chain(),
    'modules': problems.modules(2, devices=problems.topology(2, linked=True)),
    'two chains, four devices': problems.two_chains(devices=4),
    'random': problems.layered_random(devices=3),
    'cyclic groups': problems.chain(6, op_group=[0, 1, 0, 2, 1, 2]),
    'a group that may use one device': problems.chain(6, allowed=second_only),
    'nothing to choose': problems.chain(4, devices=3, allowed=no_choice),
    'one device': problems.fork_join(devices=1),
    'one op': problems.chain(1),
    'one op, one device': problems.chain(1, devices=1),
    'empty': problems.build([], []),
    'no sizes and no flops': problems.modules(1, flops=0, tensor_bytes=0),
  }


class PolicyContract:
  """Mixed into a TestCase; see the module docstring.

  Attributes:
    policy_name: of the policy under test.
  """

  policy_name = ''

  def make(
    self, problem: placement_problem.PlacementProblem, seed: int = 0
  ) -> base.Policy:
    """Makes the policy under test."""
    return registry.make(self.policy_name, problem, seed=seed)

  def test_has_a_name_and_a_summary(self):
    policy = self.make(problems.chain())
    self.assertEqual(policy.name, self.policy_name)
    self.assertRegex(policy.name, '^[a-z][a-z0-9_]*$')
    self.assertNotEmpty(policy.summary)
    self.assertNotIn('\n', policy.summary)

  def test_suggestions_are_legal(self):
    for name, problem in cases().items():
      with self.subTest(name):
        self._check(problem, _drive(self.make(problem), problem, [3, 2, 1]))

  def test_suggestions_are_legal_whatever_the_problem(self):
    @hypothesis.given(problem=strategies.problems())
    @hypothesis.settings(max_examples=15, deadline=None, derandomize=True)
    def check(problem):
      self._check(problem, _drive(self.make(problem), problem, [4, 1]))

    check()

  def test_suggests_at_most_as_many_as_asked(self):
    for name, problem in cases().items():
      with self.subTest(name):
        policy = self.make(problem)
        for count in (0, 1, 2, 5):
          self.assertLessEqual(len(policy.suggest(count)), count)

  def test_equal_seeds_suggest_the_same(self):
    for name, problem in cases().items():
      with self.subTest(name):
        one = _drive(self.make(problem, seed=3), problem, [2, 1, 2])
        other = _drive(self.make(problem, seed=3), problem, [2, 1, 2])
        self.assertEqual(_keys(one), _keys(other))

  def test_a_suggestion_is_not_changed_later(self):
    problem = problems.modules(2)
    policy = self.make(problem)
    first = policy.suggest(1)
    before = _keys(first)
    policy.update(_trials(problem, first))
    _drive(policy, problem, [2, 2])
    self.assertEqual(_keys(first), before)

  def test_may_suggest_again_before_it_is_told(self):
    problem = problems.modules(2)
    policy = self.make(problem)
    suggestions = [*policy.suggest(2), *policy.suggest(2)]
    self._check(problem, suggestions)
    policy.update(_trials(problem, suggestions))
    self._check(problem, policy.suggest(2))

  def test_goes_on_when_all_its_candidates_fail(self):
    problem = problems.modules(2)
    policy = self.make(problem)
    for _ in range(3):
      suggestions = policy.suggest(2)
      self._check(problem, suggestions)
      policy.update(
        [
          trial.Trial(i, policy.name, s.candidate, _FAILED)
          for i, s in enumerate(suggestions)
        ]
      )

  def test_takes_trials_of_others_twice_and_none(self):
    problem = problems.modules(2)
    policy = self.make(problem)
    others = _drive(registry.make('random', problem, seed=7), problem, [5])
    trials = _trials(problem, others, policy='somebody_else')
    trials.append(
      trial.Trial(9, 'somebody_else', others[0].candidate * 0, _FAILED)
    )
    policy.update([])
    policy.update(trials)
    metrics = policy.update(trials)
    for value in metrics.values():
      self.assertIsInstance(value, float)
    self._check(problem, _drive(policy, problem, [2, 2]))

  def _check(self, problem, suggestions) -> None:
    for suggestion in suggestions:
      self.assertIsInstance(suggestion, base.Suggestion)
      self.assertEqual(suggestion.candidate.dtype, np.int32)
      problem.check(suggestion.candidate)


def _drive(
  policy: base.Policy,
  problem: placement_problem.PlacementProblem,
  counts: Sequence[int],
) -> list[base.Suggestion]:
  """All that a policy suggests when asked for `counts`, told each time."""
  found = []
  for count in counts:
    suggestions = policy.suggest(count)
    found += suggestions
    policy.update(_trials(problem, suggestions, policy.name))
  return found


def _trials(problem, suggestions, policy='') -> list[trial.Trial]:
  measurer = fake_measurer.FakeMeasurer(noise=0, drift=0)
  return [
    trial.Trial(i, policy, suggestion.candidate, measured, label='x')
    for i, suggestion in enumerate(suggestions)
    for measured in measurer.measure(problem, suggestion.candidate[np.newaxis])
  ]


def _keys(suggestions: Sequence[base.Suggestion]) -> list[bytes]:
  return [suggestion.candidate.tobytes() for suggestion in suggestions]
