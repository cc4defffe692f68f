import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.core import device
from placer.policies import residuals
from placer.testing import problems


def _problem(**devices):
  """Eight groups of one second each on two devices."""
  topology = dataclasses.replace(
    problems.topology(2),
    links=(device.Link(0, 1, 0.0, 1e9), device.Link(1, 0, 0.0, 1e9)),
    **devices,
  )
  problem = problems.chain(8, devices=topology)
  costs = cost_model.build(problem.graph, topology, np.ones(len(problem.graph)))
  return problem, costs


# Four ops of a second on each device, in this many seconds.
_AT_ONCE, _IN_TURN = 4.0, 8.0


class ResidualsTest(absltest.TestCase):
  def test_devices_that_work_at_once_slow_each_other_down(self):
    known = np.array([[0, 0, 0, 0, 1, 1, 1, 1], [0, 1] * 4], np.int32)
    other = np.array([[0, 0, 1, 1, 1, 1, 0, 0]] * 2, np.int32)
    fitted = residuals.Residuals(*_problem()).known(
      known,
      predicted=np.array([_AT_ONCE, _IN_TURN]),
      measured=np.array([1.2 * _AT_ONCE, _IN_TURN]),
    )
    mean, _ = fitted.expect(other, np.array([_AT_ONCE, _IN_TURN]))
    self.assertGreater(np.exp(mean[0]), 1.1)
    self.assertLess(np.exp(mean[0]), 1.2)
    self.assertAlmostEqual(np.exp(mean[1]), 1.0, delta=0.03)

  def test_one_device_at_a_time_is_surer_than_both_at_once(self):
    fitted = residuals.Residuals(*_problem()).known(
      np.zeros((0, 8), np.int32), np.zeros(0), np.zeros(0)
    )
    rows = np.array([[0, 1] * 4] * 2, np.int32)
    mean, deviation = fitted.expect(rows, np.array([_AT_ONCE, _IN_TURN]))
    np.testing.assert_array_equal(mean, [0.0, 0.0])
    self.assertGreater(deviation[0], deviation[1])

  def test_what_the_model_explains_is_likelier(self):
    prior = residuals.Residuals(*_problem())
    rows = np.array([[0, 1] * 4, [1, 0] * 4, [0] * 4 + [1] * 4], np.int32)
    measured = np.array([5.0, 6.0, 7.0])
    right = prior.known(rows, measured, measured)
    wrong = prior.known(rows, measured * [1.2, 0.8, 1.0], measured)
    self.assertLess(right.misfit, wrong.misfit)

  def test_what_does_not_fit_is_no_fault(self):
    known = np.array([[0, 1] * 4], np.int32)
    fitted = residuals.Residuals(*_problem()).known(
      known, np.array([4.0]), np.array([5.0])
    )
    mean, deviation = fitted.expect(known, np.array([np.inf]))
    self.assertTrue(np.isfinite([*mean, *deviation]).all())

  def test_simulated_devices_do_not_contend(self):
    fitted = residuals.Residuals(*_problem(is_simulated=True)).known(
      np.zeros((0, 8), np.int32), np.zeros(0), np.zeros(0)
    )
    _, deviation = fitted.expect(
      np.array([[0, 1] * 4], np.int32), np.array([_AT_ONCE])
    )
    self.assertLess(deviation[0], 1e-5)


if __name__ == '__main__':
  absltest.main()
