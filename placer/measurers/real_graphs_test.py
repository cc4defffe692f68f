"""Random legal placements of real graphs: they run, where asked, and right.

A few of each here; `benchmarks/random_placements.py` runs as many as it is
told to.
"""

from absl.testing import absltest
from absl.testing import parameterized

from benchmarks import random_placements


class RealGraphsTest(parameterized.TestCase):
  @parameterized.product(
    case=random_placements.CASES, devices=('logical:3', 'local:2')
  )
  def test_random_placements(self, case, devices):
    # A built-in model takes longer than the small graphs.
    count = 1 if case.batch_size else 3
    found = random_placements.run(case, devices, count, seed=100)
    self.assertEqual(found.reasons, ())
    self.assertEqual(found.ok, count)
    self.assertEqual(found.moved, 0)
    self.assertEqual(found.equal, count, found)


if __name__ == '__main__':
  absltest.main()
