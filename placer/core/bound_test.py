from absl.testing import absltest

from placer.core import bound


class BoundTest(absltest.TestCase):
  def test_gap(self):
    self.assertAlmostEqual(bound.Bound(2.0, 'work').gap(2.5), 0.25)
    self.assertEqual(bound.Bound(0.0, 'work').gap(0.0), 0)
    self.assertEqual(bound.Bound(0.0, 'work').gap(1.0), float('inf'))


if __name__ == '__main__':
  absltest.main()
