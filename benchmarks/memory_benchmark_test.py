import numpy as np
from absl.testing import absltest

from benchmarks import memory_benchmark


class MemoryBenchmarkTest(absltest.TestCase):
  def test_errors_of_devices_that_hold_anything(self):
    predicted = np.array([[110, 50], [90, 7]])
    measured = np.array([[[100, 50], [120, 40]], [[100, 0], [100, 0]]])
    found = memory_benchmark.errors(predicted, measured)
    np.testing.assert_allclose(sorted(found['a step']), [0, 0.1, 0.1])
    np.testing.assert_allclose(found['the mean'], [0, 1 / 9, 0.1])
    np.testing.assert_allclose(found['the most'], [1 / 12, 0, 0.1])
    np.testing.assert_allclose(found['fullest'], [1 / 12, 0.1])
    np.testing.assert_allclose(found['spread'], [1 / 6, 0.25, 0])


if __name__ == '__main__':
  absltest.main()
