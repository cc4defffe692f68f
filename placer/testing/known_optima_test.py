"""All placements of the problems are simulated: the optima are what is said."""

import numpy as np
from absl.testing import absltest

from placer.simulation import simulator
from placer.testing import known_optima


class KnownOptimaTest(absltest.TestCase):
  def test_no_placement_is_faster_and_one_is_as_fast(self):
    for name, (problem, seconds) in known_optima.cases().items():
      with self.subTest(name):
        every = np.array(list(np.ndindex(*[2] * problem.num_groups)), np.int32)
        found = simulator.simulate(problem, problem.costs, every)
        best = found.step_time_seconds[found.feasible].min()
        self.assertAlmostEqual(float(best), seconds)


if __name__ == '__main__':
  absltest.main()
