import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import planning_model
from placer.policies.heuristics import m_sct
from placer.testing import problems


def _problem(tensor_bytes):
  """A fork to two ops, which both feed a join."""
  devices = problems.topology(2, linked=True)
  problem = problems.build(
    ['fork', 'left', 'right', 'join'],
    [(0, 1), (0, 2), (1, 3), (2, 3)],
    devices=devices,
    tensor_bytes=tensor_bytes,
  )
  costs = cost_model.build(problem.graph, devices, np.ones(4))
  return dataclasses.replace(problem, costs=costs)


class MSctTest(absltest.TestCase):
  def test_each_op_has_one_favourite_and_is_that_of_one(self):
    problem = problems.layered_random(
      8, 5, seed=1, devices=problems.topology(2, linked=True)
    )
    model = planning_model.PlanningModel(problem)
    found = m_sct.favourite_children(model.graph)
    self.assertNotEmpty(found)
    children = [child for child, _ in found.values()]
    self.assertLen(set(children), len(children))

  def test_all_of_a_chain_are_favourites(self):
    problem = problems.chain(4, devices=problems.topology(2, linked=True))
    model = planning_model.PlanningModel(problem)
    found = m_sct.favourite_children(model.graph)
    self.assertEqual({p: c for p, (c, _) in found.items()}, {0: 1, 1: 2, 2: 3})

  def test_splits_what_is_worth_sending(self):
    (found,) = m_sct.MSct(_problem(1000)).suggest(1)
    self.assertNotEqual(found.candidate[1], found.candidate[2])
    self.assertEqual(found.label, 'm_sct, predicted 3.001 s')


if __name__ == '__main__':
  absltest.main()
