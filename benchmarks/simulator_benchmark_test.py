import re
from xml.etree import ElementTree

from absl.testing import absltest

from benchmarks import simulator_benchmark


class PlotTest(absltest.TestCase):
  def test_points_and_labels(self):
    text = simulator_benchmark.plot([1000, 10_000, 100_000], [10, 100, 5000])
    root = ElementTree.fromstring(text)
    name = '{http://www.w3.org/2000/svg}'
    labels = [label.text for label in root.iter(f'{name}text')]
    self.assertContainsSubset(['1,000', '100,000', '10', '5,000'], labels)
    for x, y in re.findall(r'([\d.]+),([\d.]+)', text.partition('<circle')[0]):
      self.assertBetween(float(x), 0, 520)
      self.assertBetween(float(y), 0, 350)
    self.assertLen(list(root.iter(f'{name}circle')), 3)


if __name__ == '__main__':
  absltest.main()
