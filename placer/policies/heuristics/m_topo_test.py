import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies.heuristics import m_topo
from placer.testing import problems


def _problem(memory_bytes, allowed=None):
  problem = problems.chain(
    6, devices=problems.topology(2, linked=True), allowed=allowed
  )
  graph = dataclasses.replace(
    problem.graph, persistent_bytes=np.full(6, 10_000_000)
  )
  costs = cost_model.build(graph, problem.devices, np.ones(6))
  costs = dataclasses.replace(costs, memory_bytes=np.full(2, memory_bytes))
  return dataclasses.replace(problem, graph=graph, costs=costs)


class MTopoTest(absltest.TestCase):
  def test_fills_up_to_equal_shares_and_the_largest_group(self):
    (found,) = m_topo.MTopo(_problem(10**9)).suggest(1)
    # 60 MB over two devices and 10 MB: four groups fit on the first.
    np.testing.assert_array_equal(found.candidate, [0, 0, 0, 0, 1, 1])

  def test_keeps_to_the_limit(self):
    (found,) = m_topo.MTopo(_problem(35_000_000)).suggest(1)
    np.testing.assert_array_equal(found.candidate, [0, 0, 0, 1, 1, 1])

  def test_goes_where_it_may(self):
    allowed = np.ones((6, 2), bool)
    allowed[0, 0] = allowed[5, 1] = False
    (found,) = m_topo.MTopo(_problem(10**9, allowed)).suggest(1)
    np.testing.assert_array_equal(found.candidate, [1, 0, 0, 0, 0, 0])


if __name__ == '__main__':
  absltest.main()
