import dataclasses

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import cost_model
from placer.core import link_costs
from placer.policies import list_schedule
from placer.policies import planning_graph
from placer.testing import problems

_LATENCY, _RATE = 0.0006, 1.2e9


def _schedule(problem, seconds=1.0, *, sizes=None, limits=None, services=0.0):
  """With tensors of 1 s on the wire, one channel a source."""
  links = link_costs.of_topology(problem.devices).one_channel_per_source()
  busy = np.full_like(links.latency_seconds, services)
  links = dataclasses.replace(
    links, send_seconds_per_message=busy, receive_seconds_per_message=busy
  )
  seconds = np.full(len(problem.graph), seconds)
  costs = cost_model.build(problem.graph, problem.devices, seconds, links=links)
  return list_schedule.ListSchedule(
    planning_graph.build(problem, costs),
    sizes or [0] * problem.num_groups,
    limits or [0] * len(problem.devices),
  )


def _fork(**options):
  """An op that two others read."""
  return problems.build(
    ['a', 'b', 'c'],
    [(0, 1), (0, 2)],
    devices=problems.topology(2, linked=True),
    tensor_bytes=int(_RATE),
    **options,
  )


class ListScheduleTest(parameterized.TestCase):
  def test_what_is_read_is_sent_once(self):
    step = _schedule(_fork())
    self.assertEqual(step.place(0, 0, insert=False), 1)
    self.assertAlmostEqual(step.start_seconds(1, 1, insert=False), 2 + _LATENCY)
    self.assertAlmostEqual(step.place(1, 1, insert=False), 3 + _LATENCY)
    # The tensor is there; the device is busy.
    self.assertAlmostEqual(step.start_seconds(2, 1, insert=False), 3 + _LATENCY)
    self.assertEqual(step.start_seconds(2, 0, insert=False), 1)

  def test_transfers_of_a_source_wait_for_each_other(self):
    problem = problems.two_chains(
      2, devices=problems.topology(3, linked=True), tensor_bytes=int(_RATE)
    )
    step = _schedule(problem)
    step.place(0, 0, insert=False)
    step.place(2, 0, insert=False)
    step.place(1, 1, insert=False)
    # Out at 2, but the channel is free at 2 as well: from 1 to 2 it was busy.
    self.assertAlmostEqual(step.start_seconds(3, 2, insert=False), 3 + _LATENCY)

  def test_services_keep_devices_busy(self):
    step = _schedule(_fork(), services=0.25)
    step.place(0, 0, insert=False)
    self.assertAlmostEqual(
      step.place(1, 1, insert=False), 1 + 0.25 + 1 + _LATENCY + 0.25 + 1
    )
    self.assertAlmostEqual(step.start_seconds(2, 0, insert=False), 1.25)

  @parameterized.parameters((True, 1.0), (False, 3.0 + _LATENCY))
  def test_an_op_goes_between_others_if_it_may(self, insert, expected):
    # b waits on device 1 for a's tensor; c could run there before.
    problem = problems.build(
      ['a', 'b', 'c', 'd'],
      [(0, 1), (2, 3)],
      devices=problems.topology(2, linked=True),
      tensor_bytes=int(_RATE),
    )
    step = _schedule(problem)
    step.place(2, 1, insert=False)
    step.place(0, 0, insert=False)
    step.place(1, 1, insert=False)
    self.assertAlmostEqual(step.start_seconds(3, 1, insert=insert), expected)

  def test_groups_are_bound_and_take_memory(self):
    problem = problems.chain(
      4, op_group=[0, 1, 0, 2], devices=problems.topology(2, linked=True)
    )
    step = _schedule(problem, sizes=[6, 6, 9], limits=[10, 8])
    self.assertEqual(step.choices(0), [0, 1])
    step.place(0, 0, insert=False)
    self.assertEqual(step.choices(2), [0])
    self.assertEqual(step.choices(1), [1])
    step.place(1, 1, insert=False)
    step.place(2, 0, insert=False)
    # It fits nowhere: where most is left.
    self.assertEqual(step.choices(3), [0])
    step.place(3, 0, insert=False)
    np.testing.assert_array_equal(step.candidate(), [0, 1, 0])


if __name__ == '__main__':
  absltest.main()
