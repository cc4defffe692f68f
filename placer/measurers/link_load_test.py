from absl.testing import absltest

from placer.measurers import link_load

_TENSORS = link_load._TENSORS
_ROUNDS = link_load._ROUNDS


class LoadTest(absltest.TestCase):
  def _load(self, *, message=0.0, byte=0.0, idle=4e-4, busy=2e-3):
    """The Load of steps that are just as the module says."""
    work = 0.05
    small, large = link_load.SIZES
    del small
    done = work / busy
    return link_load.load_of(
      work,
      work + _TENSORS * message,
      work + _TENSORS * (message + large * byte),
      work + (_ROUNDS - done) * idle,
      _ROUNDS * idle,
    )

  def test_finds_what_the_steps_are_made_of(self):
    found = self._load(message=1e-4, byte=5e-10)
    self.assertAlmostEqual(found.seconds, 1e-4)
    self.assertAlmostEqual(found.seconds_per_byte, 5e-10, delta=1e-15)
    self.assertAlmostEqual(found.latency_seconds, 1e-3)

  def test_busy_devices_are_not_quicker_than_idle_ones(self):
    self.assertAlmostEqual(self._load(busy=1e-4).latency_seconds, 2e-4)

  def test_both_directions_get_their_mean(self):
    one, other = link_load.Load(1.0, 2.0, 3.0), link_load.Load(3.0, 2.0, 1.0)
    self.assertEqual(link_load.mean(one, other), link_load.Load(2.0, 2.0, 2.0))
    self.assertEqual(link_load.mean(one, None), one)

  def test_noise_gives_nothing_negative(self):
    found = link_load.load_of(0.05, 0.049, 0.048, 0.3, 0.08)
    self.assertEqual((found.seconds, found.seconds_per_byte), (0.0, 0.0))
    self.assertLessEqual(found.latency_seconds, 0.05)
    self.assertGreater(found.latency_seconds, 0.0)


if __name__ == '__main__':
  absltest.main()
