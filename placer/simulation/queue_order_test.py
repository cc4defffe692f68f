"""Which of the ops that wait goes first, computed by hand."""

import numpy as np
from absl.testing import absltest

from placer.simulation import simulator
from placer.testing import plain_costs
from placer.testing import problems

_costs = plain_costs.costs


class QueueOrderTest(absltest.TestCase):
  def test_a_threaded_device_goes_on_with_what_was_made_ready_last(self):
    # a -> b, c, d; b -> e, d -> f: d and f, b and e, then c.
    found = self._threaded(np.ones(6))
    np.testing.assert_array_equal(found.op_start_seconds, [0, 3, 5, 1, 4, 2])
    # What takes nothing, such as c, does not wait for another thread.
    found = self._threaded(np.array([1, 1, 0, 1, 1, 1]))
    np.testing.assert_array_equal(found.op_start_seconds, [0, 1, 1, 3, 2, 4])

  def test_ops_take_turns_after_a_slice(self):
    # Three ops at once; the last one's result goes to another device.
    problem = problems.build('abcd', [(2, 3)], devices=2)
    for limit, starts, ends in (
      (np.inf, [0, 3, 6, 18], [3, 6, 7, 19]),
      (1.0, [0, 1, 2, 14], [6, 7, 3, 15]),
      (2.0, [0, 2, 4, 16], [6, 7, 5, 17]),
    ):
      costs = _costs(problem, np.array([3, 3, 1, 1]), slice_seconds=limit)
      found = simulator.schedule(problem, costs, [0, 0, 0, 1])
      np.testing.assert_array_equal(found.op_start_seconds, starts)
      np.testing.assert_array_equal(found.op_end_seconds, ends)
      priority = [0, 1, 2, 3]
      again = simulator.Simulator(problem, costs).op_start_seconds(
        [[0, 0, 0, 1]], priority=priority
      )
      np.testing.assert_array_equal(again[0], [0, 3, 6, 18])

  def test_what_becomes_ready_goes_before_what_has_had_a_turn(self):
    # c is on another device; its result arrives at 11.5, d needs it.
    problem = problems.build('abcd', [(2, 3)], devices=2)
    costs = _costs(problem, np.array([20, 20, 0.5, 2]), slice_seconds=1.0)
    found = simulator.schedule(problem, costs, [0, 0, 1, 0])
    # Its second turn comes after one of each of the others.
    np.testing.assert_array_equal(found.op_start_seconds, [0, 1, 0, 12])
    np.testing.assert_array_equal(found.op_end_seconds[3], 16)

  def _threaded(self, seconds):
    problem = problems.build('abcdef', [(0, 1), (0, 2), (0, 3), (1, 4), (3, 5)])
    costs = _costs(problem, seconds, threaded=True)
    return simulator.schedule(problem, costs, np.zeros(6, int))

  def test_priorities(self):
    problem = problems.build(['a', 'b', 'c'], [], devices=1)
    simulated = simulator.Simulator(problem, _costs(problem))
    for priority, starts in (
      (None, [0, 1, 2]),
      ([3, 2, 1], [2, 1, 0]),
      ([1, 0, 1], [1, 0, 2]),
    ):
      found = simulated.op_start_seconds([[0, 0, 0]], priority=priority)
      np.testing.assert_array_equal(found[0], starts)
    with self.assertRaisesRegex(ValueError, 'a number for each op'):
      simulated.simulate([[0, 0, 0]], priority=np.zeros(2))


if __name__ == '__main__':
  absltest.main()
