import numpy as np
from absl.testing import absltest

from placer.core import measurement
from placer.testing import fake_measurer
from placer.testing import problems


class FakeMeasurerTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.problem = problems.two_chains(1, flops=1e11)
    self.candidates = np.array([[0, 0], [0, 1]], np.int32)

  def test_without_noise_it_is_the_model(self):
    measurer = fake_measurer.FakeMeasurer(noise=0, drift=0)
    one, split = measurer.measure(
      self.problem, self.candidates, reference=self.candidates[0], steps=3
    )
    np.testing.assert_allclose(one.step_times_seconds, [2.0] * 3, atol=1e-5)
    np.testing.assert_allclose(split.step_times_seconds, [1.0] * 3, atol=1e-5)
    np.testing.assert_allclose(split.reference_times_seconds, 2.0, atol=1e-5)
    self.assertEqual(measurer.calls, [(0, 0), (0, 1)])

  def test_pairs_share_the_drift(self):
    measurer = fake_measurer.FakeMeasurer(noise=0, drift=0.3)
    (split,) = measurer.measure(
      self.problem, self.candidates[1:], reference=self.candidates[0]
    )
    ratios = np.divide(split.step_times_seconds, split.reference_times_seconds)
    np.testing.assert_allclose(ratios, 0.5, atol=1e-5)
    self.assertGreater(np.std(split.step_times_seconds), 0.1)

  def test_gives_up_on_what_is_slow(self):
    (slow,) = fake_measurer.FakeMeasurer().measure(
      self.problem,
      self.candidates[:1],
      reference=self.candidates[1],
      give_up_ratio=1.5,
    )
    self.assertLen(slow.step_times_seconds, 3)

  def test_failures_clock_and_legality(self):
    clock = fake_measurer.FakeClock()
    measurer = fake_measurer.FakeMeasurer(
      failure=lambda _: (measurement.Status.TIMEOUT, 'no end'), clock=clock
    )
    failed, _ = measurer.measure(self.problem, self.candidates)
    self.assertEqual(failed.reason, 'no end')
    self.assertEqual(clock(), 10.0)
    with self.assertRaises(ValueError):
      measurer.measure(self.problem, np.array([[0, 2]]))
    with measurer:
      pass
    self.assertTrue(measurer.closed)


if __name__ == '__main__':
  absltest.main()
