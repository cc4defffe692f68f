from absl.testing import absltest

from placer.measurers import link_load

_TENSORS = link_load._TENSORS


class LoadTest(absltest.TestCase):
  def test_finds_what_the_steps_are_made_of(self):
    work, message, byte = 0.05, 1e-4, 5e-10
    found = link_load.load_of(
      work,
      work + _TENSORS * message,
      work + _TENSORS * (message + link_load.SIZES[1] * byte),
    )
    self.assertAlmostEqual(found.seconds, message)
    self.assertAlmostEqual(found.seconds_per_byte, byte, delta=1e-15)

  def test_noise_gives_nothing_negative(self):
    found = link_load.load_of(0.05, 0.049, 0.048)
    self.assertEqual(found, link_load.Load(0.0, 0.0))

  def test_both_directions_get_their_mean(self):
    one, other = link_load.Load(1.0, 2.0), link_load.Load(3.0, 2.0)
    self.assertEqual(link_load.mean(one, other), link_load.Load(2.0, 2.0))
    self.assertEqual(link_load.mean(one, None), one)


if __name__ == '__main__':
  absltest.main()
