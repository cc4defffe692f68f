import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies.heuristics import m_etf
from placer.testing import problems


def _with_costs(problem, seconds=1.0, **fields):
  seconds = np.full(len(problem.graph), seconds)
  costs = cost_model.build(problem.graph, problem.devices, seconds)
  return dataclasses.replace(
    problem, costs=dataclasses.replace(costs, **fields)
  )


class MEtfTest(absltest.TestCase):
  def test_splits_two_chains(self):
    problem = problems.two_chains(3, devices=problems.topology(2, linked=True))
    (found,) = m_etf.MEtf(_with_costs(problem)).suggest(3)
    self.assertEqual(found.candidate[:3].std(), 0)
    self.assertEqual(found.candidate[3:].std(), 0)
    self.assertNotEqual(found.candidate[0], found.candidate[3])
    self.assertEqual(found.label, 'm_etf, predicted 3 s')

  def test_a_chain_stays_together(self):
    problem = problems.chain(5, devices=problems.topology(3, linked=True))
    (found,) = m_etf.MEtf(_with_costs(problem)).suggest(1)
    self.assertLen(set(found.candidate.tolist()), 1)

  def test_a_chain_that_does_not_fit_is_split(self):
    problem = problems.chain(4, devices=problems.topology(2, linked=True))
    graph = dataclasses.replace(
      problem.graph, persistent_bytes=np.full(4, 5_000_000)
    )
    problem = dataclasses.replace(problem, graph=graph)
    problem = _with_costs(problem, memory_bytes=np.full(2, 13_000_000))
    (found,) = m_etf.MEtf(problem).suggest(1)
    self.assertEqual(found.candidate.sum(), 2)
    self.assertStartsWith(found.label, 'm_etf, predicted 4.00')


if __name__ == '__main__':
  absltest.main()
