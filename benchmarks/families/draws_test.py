"""Tests for draws."""

from absl.testing import absltest

from benchmarks.families import draws


class DrawsTest(absltest.TestCase):
  def test_is_fixed_for_good(self):
    sequence = draws.Draws(0, 'cifar10/0')
    self.assertEqual(
      [sequence.integer(0, 99) for _ in range(6)], [92, 60, 23, 97, 23, 37]
    )

  def test_covers_the_range_evenly(self):
    sequence = draws.Draws(1, 'x')
    counts = [0] * 5
    for _ in range(5_000):
      counts[sequence.integer(3, 7) - 3] += 1
    # 1,000 each, with a standard deviation of 28.
    self.assertBetween(min(counts), 850, 1_150)
    self.assertBetween(max(counts), 850, 1_150)

  def test_seeds_and_purposes_differ(self):
    firsts = {
      draws.Draws(seed, purpose).integer(0, 10**9)
      for seed in (0, 1)
      for purpose in ('ptb/0', 'ptb/1', 'nmt/0')
    }
    self.assertLen(firsts, 6)

  def test_choice(self):
    sequence = draws.Draws(0, 'choice')
    self.assertEqual({sequence.choice('ab') for _ in range(50)}, {'a', 'b'})


if __name__ == '__main__':
  absltest.main()
