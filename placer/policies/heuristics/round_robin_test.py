import numpy as np
from absl.testing import absltest

from placer.policies.heuristics import round_robin
from placer.testing import problems


class RoundRobinTest(absltest.TestCase):
  def test_a_device_after_the_other(self):
    policy = round_robin.RoundRobin(problems.chain(5, devices=3))
    (found,) = policy.suggest(4)
    np.testing.assert_array_equal(found.candidate, [0, 1, 2, 0, 1])
    self.assertEmpty(policy.suggest(1))

  def test_takes_the_next_device_that_a_group_may_use(self):
    allowed = np.array([[0, 0, 1], [1, 0, 1], [1, 1, 1]], bool)
    policy = round_robin.RoundRobin(
      problems.chain(3, devices=3, allowed=allowed)
    )
    np.testing.assert_array_equal(policy.suggest(1)[0].candidate, [2, 2, 2])


if __name__ == '__main__':
  absltest.main()
