import numpy as np
from absl.testing import absltest

from placer.search import paired_ratio


class PairedRatioTest(absltest.TestCase):
  def test_ratio_of_the_medians(self):
    self.assertEqual(paired_ratio.ratio([1.0, 9.0, 2.0], [4.0, 8.0, 2.0]), 0.5)

  def test_interval_is_the_percentile_bootstrap(self):
    rng = np.random.default_rng(1)
    steps, references = rng.uniform(1, 2, (2, 25))
    # The same in plain numpy, one resample at a time.
    draws = np.random.default_rng(7).integers(25, size=(500, 25))
    ratios = [
      np.median(steps[draw]) / np.median(references[draw]) for draw in draws
    ]
    expected = np.percentile(ratios, [5, 95])
    found = paired_ratio.interval(
      steps, references, confidence=0.9, resamples=500, seed=7
    )
    np.testing.assert_allclose(found, expected)

  def test_covers_the_true_ratio_about_as_often_as_it_says(self):
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(200):
      drift = np.exp(rng.normal(0, 0.05, 20))
      steps, references = drift * np.exp(rng.normal(0, 0.02, (2, 20)))
      low, high = paired_ratio.interval(
        0.8 * steps, references, resamples=300, seed=seed
      )
      covered += low <= 0.8 <= high
    # 190 expected; the bootstrap of a median is a little off with 20 pairs.
    self.assertBetween(covered, 180, 200)

  def test_slow_drift_of_the_host_does_not_widen_it(self):
    rng = np.random.default_rng(0)
    drift = np.linspace(1.0, 1.3, 30)
    steps, references = np.exp(rng.normal(0, 0.01, (2, 30)))
    low, high = paired_ratio.interval(0.9 * drift * steps, drift * references)
    self.assertBetween(low, 0.87, 0.9)
    self.assertBetween(high, 0.9, 0.93)

  def test_too_few_pairs_have_no_interval(self):
    self.assertIsNone(paired_ratio.interval([1.0] * 5, [2.0] * 5))
    self.assertIsNone(paired_ratio.interval([1.0] * 9, [2.0] * 5))
    self.assertEqual(paired_ratio.interval([1.0] * 6, [2.0] * 6), (0.5, 0.5))

  def test_is_the_same_each_time(self):
    steps, references = np.random.default_rng(0).uniform(1, 2, (2, 10))
    self.assertEqual(
      paired_ratio.interval(steps, references, seed=1),
      paired_ratio.interval(steps, references, seed=1),
    )


if __name__ == '__main__':
  absltest.main()
