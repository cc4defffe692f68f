import dataclasses
import json
import pathlib

import numpy as np
from absl.testing import absltest

from placer.cli import prediction
from placer.core import cost_model
from placer.testing import problems
from placer.testing import results


def _result(seconds):
  devices = problems.topology(linked=True)
  problem = problems.two_chains(3, devices=devices)
  costs = cost_model.build(problem.graph, devices, np.full(6, seconds))
  return results.result(dataclasses.replace(problem, costs=costs))


class PredictionTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def test_the_answer_has_a_bound_and_a_trace(self):
    result = prediction.add_bound(_result(1.0), 10.0)
    self.assertEqual(result.bound.seconds, 3.0)
    self.assertGreaterEqual(result.predicted_seconds, 3.0)
    said = prediction.write_trace(result, str(self.folder))
    self.assertIn(prediction.TRACE, said)
    trace = json.loads((self.folder / prediction.TRACE).read_text())
    self.assertEqual(trace['otherData']['placement'], 'hill_climb 7')
    self.assertEqual(
      trace['otherData']['step_time_seconds'], result.predicted_seconds
    )

  def test_what_cannot_be_told_ends_nothing(self):
    result = prediction.add_bound(_result(np.inf), None)
    self.assertIsNone(result.predicted_seconds)
    self.assertEqual(prediction.write_trace(result, str(self.folder)), '')
    self.assertEmpty(list(self.folder.iterdir()))

  def test_without_costs_they_are_assumed(self):
    result = prediction.add_bound(results.result(), 1.0)
    self.assertGreater(result.bound.seconds, 0)
    self.assertGreaterEqual(result.predicted_seconds, result.bound.seconds)


if __name__ == '__main__':
  absltest.main()
