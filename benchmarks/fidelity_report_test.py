import numpy as np
from absl.testing import absltest

from benchmarks import fidelity_report


def _row(placement, seconds, *, predicted=1.0, status='ok', single=1.0):
  return {
    'model': 'm',
    'training': False,
    'placement': placement,
    'status': status,
    'seconds': seconds,
    'predicted_seconds': predicted,
    'roofline_seconds': 2 * predicted,
    'single_seconds': single,
    'predicted_peak_bytes': [90, 10],
    'peak_bytes': [100, 0],
  }


class FidelityReportTest(absltest.TestCase):
  def test_the_median_of_the_sessions_of_a_placement_counts(self):
    rows = [
      _row('a', 0.9),
      _row('b', None, status='timeout'),
      _row('a', 0.5),
      # Of a run whose single device was slower, as slow as 0.6 before.
      _row('a', 1.2, single=2.0),
      _row('b', 0.7),
    ]
    found = fidelity_report.merged(rows)
    self.assertEqual([row['placement'] for row in found], ['a', 'b'])
    self.assertAlmostEqual(found[0]['seconds'], 0.6)
    self.assertEqual(found[1]['status'], 'timeout')

  def test_figures(self):
    rows = [
      _row('a', 1.0, predicted=1.1),
      _row('b', 2.0, predicted=1.0),
      _row('c', 4.0, predicted=3.0),
      _row('d', None, status='timeout'),
    ]
    found = fidelity_report.summary(rows)
    self.assertEqual(found['placements'], 3)
    self.assertAlmostEqual(found['median'], 0.25)
    # Predicted best is b, which takes twice as long as a.
    self.assertAlmostEqual(found['regret'], 1.0)
    self.assertAlmostEqual(found['spearman'], 0.5)
    # Devices that hold nothing don't count.
    self.assertAlmostEqual(found['memory_median'], 0.1)
    self.assertIn(
      '1 placements did not run', fidelity_report.markdown(rows, '')
    )

  def test_equal_values_share_their_rank(self):
    self.assertEqual(
      fidelity_report.spearman(np.array([1, 1, 2]), np.array([3, 3, 5])), 1.0
    )


if __name__ == '__main__':
  absltest.main()
