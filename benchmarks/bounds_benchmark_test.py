import dataclasses

import numpy as np
from absl.testing import absltest

from benchmarks import bounds_benchmark
from placer.core import cost_model
from placer.testing import problems


class BoundsBenchmarkTest(absltest.TestCase):
  def test_a_row_has_steps_and_bounds(self):
    problem = problems.two_chains(3, devices=problems.topology(2, linked=True))
    costs = cost_model.build(problem.graph, problem.devices, np.ones(6))
    row = bounds_benchmark.row(
      dataclasses.replace(problem, costs=costs), 1.0, 1.0
    )
    self.assertEqual((row.single, row.annealing, row.portfolio), (6, 3, 3))
    self.assertEqual((row.best, row.bound.seconds), (3, 3))
    self.assertEqual(
      row.text('chains', 'two', 6),
      '| chains | two | 6 | 6000.00 | 3000.00 | 3000.00 | 3000.00 | 3000.00 '
      '| 3000.00 | all placements | **0.0 %** |',
    )


if __name__ == '__main__':
  absltest.main()
