import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import bound
from placer.core import cost_model
from placer.policies import answer_bound
from placer.testing import problems
from placer.testing import results


def _result(memory_bytes=cost_model.NO_LIMIT):
  devices = problems.topology(linked=True)
  problem = problems.two_chains(3, devices=devices)
  costs = cost_model.build(problem.graph, devices, np.ones(6))
  costs = dataclasses.replace(
    costs, memory_bytes=np.full(2, memory_bytes, np.int64)
  )
  # The answer has one op of the second chain on the first device.
  chosen = dataclasses.replace(
    results.result(problem).chosen,
    candidate=np.array([0, 0, 0, 0, 1, 1], np.int32),
  )
  return results.result(
    dataclasses.replace(problem, costs=costs), chosen=chosen, rows=(chosen,)
  )


class AnswerBoundTest(absltest.TestCase):
  def test_the_answer_is_predicted_and_the_best_is_known(self):
    found = answer_bound.add(_result(), 1.0)
    self.assertEqual(found.bound, bound.Bound(3.0, 'all placements'))
    # The moved op is third in its queue, or second: first ready, first served.
    self.assertGreater(found.predicted_seconds, 3.0)
    self.assertAlmostEqual(
      found.bound.gap(found.predicted_seconds), found.predicted_seconds / 3 - 1
    )

  def test_what_does_not_run_in_the_model_is_not_predicted(self):
    found = answer_bound.add(_result(memory_bytes=1), 1.0)
    self.assertIsNone(found.predicted_seconds)
    self.assertEqual(found.bound.seconds, np.inf)


if __name__ == '__main__':
  absltest.main()
