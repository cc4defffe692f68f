"""Tests of what `scotch` and `metis` have in common."""

import dataclasses

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import cost_model
from placer.policies import registry
from placer.testing import problems

_NAMES = ('metis', 'scotch')


def _with_costs(problem, seconds):
  costs = cost_model.build(problem.graph, problem.devices, seconds)
  return dataclasses.replace(problem, costs=costs)


class PartitionersTest(parameterized.TestCase):
  @parameterized.parameters(*_NAMES)
  def test_cut_where_little_flows(self, name):
    sizes = np.full(40, 1_000_000)
    sizes[19] = 10
    problem = problems.chain(
      40, tensor_bytes=sizes, devices=problems.topology(2, linked=True)
    )
    policy = registry.make(name, _with_costs(problem, np.ones(40)))
    (found,) = policy.suggest(1)
    self.assertLen(np.flatnonzero(np.diff(found.candidate)), 1)
    self.assertNotEqual(found.candidate[19], found.candidate[20])
    self.assertStartsWith(found.label, f'{name}, predicted ')

  @parameterized.parameters(*_NAMES)
  def test_share_by_speed(self, name):
    problem = problems.chain(60, devices=problems.topology(2, linked=True))
    seconds = np.tile([1.0, 3.0], (60, 1))
    (found,) = registry.make(name, _with_costs(problem, seconds)).suggest(1)
    self.assertBetween((found.candidate == 0).sum(), 40, 50)

  @parameterized.parameters(*_NAMES)
  def test_use_four_devices(self, name):
    problem = problems.two_chains(20, devices=problems.topology(4, linked=True))
    (found,) = registry.make(name, _with_costs(problem, np.ones(40))).suggest(1)
    counts = np.bincount(found.candidate, minlength=4)
    self.assertBetween(counts.min(), 8, 10)


if __name__ == '__main__':
  absltest.main()
