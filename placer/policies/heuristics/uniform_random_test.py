import numpy as np
from absl.testing import absltest

from placer.policies.heuristics import uniform_random
from placer.testing import problems


class UniformRandomTest(absltest.TestCase):
  def test_is_uniform_over_the_allowed_devices(self):
    allowed = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 0]], bool)
    policy = uniform_random.UniformRandom(
      problems.chain(3, devices=3, allowed=allowed), seed=5
    )
    draws = np.stack([s.candidate for s in policy.suggest(6000)])
    shares = np.stack([np.bincount(column, minlength=3) for column in draws.T])
    # Three standard deviations of a share of 1/3 in 6000 draws are 0.018.
    np.testing.assert_allclose(
      shares / 6000, allowed / allowed.sum(axis=1)[:, None], atol=0.02
    )

  def test_has_no_end_and_depends_on_the_seed(self):
    problem = problems.chain(20)
    one = uniform_random.UniformRandom(problem, seed=1).suggest(2)
    other = uniform_random.UniformRandom(problem, seed=2).suggest(1)
    self.assertFalse(np.array_equal(one[0].candidate, one[1].candidate))
    self.assertFalse(np.array_equal(one[0].candidate, other[0].candidate))


if __name__ == '__main__':
  absltest.main()
