"""Tests of plot_svg.py."""

from xml.etree import ElementTree

from absl.testing import absltest

from benchmarks import plot_svg


class PlotSvgTest(absltest.TestCase):
  def test_is_a_document_with_a_line_a_series(self):
    for logarithmic in (False, True):
      text = plot_svg.lines(
        {'a & b': [(1, 2), (10, 5), (100, 5)], 'c': [(1, 1)]},
        x_title='<x>',
        y_title='y',
        logarithmic=logarithmic,
      )
      root = ElementTree.fromstring(text)
      tags = [child.tag.rpartition('}')[2] for child in root]
      self.assertEqual(tags.count('polyline'), 2)
      self.assertEqual(tags.count('circle'), 4)
      self.assertIn('a & b', [child.text for child in root])

  def test_cumulative(self):
    self.assertEqual(
      plot_svg.cumulative([3.0, 1.0]),
      [(1.0, 0.0), (1.0, 0.5), (3.0, 0.5), (3.0, 1.0)],
    )


if __name__ == '__main__':
  absltest.main()
