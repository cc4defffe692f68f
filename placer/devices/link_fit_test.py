import numpy as np
from absl.testing import absltest

from placer.devices import link_fit

_SIZES = (4, 1 << 12, 1 << 16, 1 << 20, 1 << 23, 1 << 26)


class LinkFitTest(absltest.TestCase):
  def test_finds_the_line(self):
    samples = [(size, 6e-4 + size / 1.2e9) for size in _SIZES]
    link = link_fit.fit(0, 1, samples)
    np.testing.assert_allclose(link.latency_seconds, 6e-4, rtol=1e-6)
    np.testing.assert_allclose(link.bytes_per_second, 1.2e9, rtol=1e-6)
    self.assertEqual((link.source, link.target), (0, 1))
    self.assertEqual(link.samples[0][0], 4)
    self.assertEqual((link.load_seconds, link.load_seconds_per_byte), (0, 0))

  def test_keeps_the_load(self):
    link = link_fit.fit(0, 1, [(4, 1e-3)], (2e-5, 3e-10))
    self.assertEqual(
      (link.load_seconds, link.load_seconds_per_byte), (2e-5, 3e-10)
    )

  def test_noise_of_ten_percent_is_borne(self):
    rng = np.random.default_rng(0)
    noise = rng.uniform(0.9, 1.1, len(_SIZES))
    samples = [
      (size, (2e-4 + size / 1e9) * factor)
      for size, factor in zip(_SIZES, noise, strict=True)
    ]
    link = link_fit.fit(0, 1, samples)
    # Six samples with 10 % noise each: within 15 %.
    np.testing.assert_allclose(link.latency_seconds, 2e-4, rtol=0.15)
    np.testing.assert_allclose(link.bytes_per_second, 1e9, rtol=0.15)

  def test_stays_physical(self):
    for samples in (
      [(size, 1e-6) for size in _SIZES],
      [(4, 1e-6), (1 << 20, 1e-3), (1 << 26, 0.2)],
      [(4, 1e-3)],
    ):
      link = link_fit.fit(0, 1, samples)
      self.assertGreater(link.latency_seconds, 0)
      self.assertGreater(link.bytes_per_second, 0)
      self.assertTrue(np.isfinite(link.seconds(1 << 30)))


if __name__ == '__main__':
  absltest.main()
