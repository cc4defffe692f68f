import numpy as np
from absl.testing import absltest

from placer.core import measurement
from placer.simulation import kernel
from placer.simulation import simulation_batch


class SimulationBatchTest(absltest.TestCase):
  def _batch(self, status=(0, 1, 0)):
    return simulation_batch.SimulationBatch(
      status=np.array(status, np.int8),
      unbounded_seconds=np.array([3.0, 1.0, 2.0]),
      peak_bytes=np.array([[10, 90], [60, 90], [0, 0]]),
      memory_bytes=np.array([50, 100]),
    )

  def test_what_does_not_run_has_no_step_time(self):
    batch = self._batch()
    np.testing.assert_array_equal(batch.feasible, [True, False, True])
    np.testing.assert_array_equal(batch.step_time_seconds, [3, np.nan, 2])
    self.assertEqual(batch.best(), 2)
    self.assertIsNone(self._batch((1, 2, 3)).best())
    self.assertLen(batch, 3)

  def test_fullest_device(self):
    np.testing.assert_array_equal(self._batch().fullest_device, [1, 0, 0])

  def test_statuses_are_those_of_the_kernel(self):
    for code, name in (
      (kernel.OK, 'ok'),
      (kernel.OUT_OF_MEMORY, 'out_of_memory'),
      (kernel.INVALID_PLACEMENT, 'invalid_placement'),
      (kernel.UNSUPPORTED_OP, 'unsupported_op'),
    ):
      self.assertEqual(simulation_batch.STATUSES[code].value, name)

  def test_reasons(self):
    sizes = np.array([2000, 5]), np.array([1000, 10])
    for status, words in (
      ('ok', '^$'),
      ('out_of_memory', 'GPU:0 needs 2,000 of 1,000 bytes.$'),
      ('unsupported_op', 'infinite'),
      ('invalid_placement', 'may not use'),
    ):
      found = simulation_batch.reason(
        measurement.Status(status), *sizes, ('GPU:0', 'GPU:1')
      )
      self.assertRegex(found, words)


if __name__ == '__main__':
  absltest.main()
