"""The simulator on small cases, computed by hand."""

import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.core import measurement
from placer.simulation import simulator
from placer.testing import plain_costs
from placer.testing import problems

_costs = plain_costs.costs


def _changed(costs: cost_model.CostModel, **changes) -> cost_model.CostModel:
  """The same model with other links; a number counts for all of them."""
  shape = costs.links.channel.shape
  changes = {
    name: np.broadcast_to(np.asarray(value), shape).copy()
    for name, value in changes.items()
  }
  links = dataclasses.replace(costs.links, **changes)
  return dataclasses.replace(costs, links=links, host_links=links)


class ByHandTest(absltest.TestCase):
  def test_a_chain_over_two_devices(self):
    problem = problems.chain(3)
    found = simulator.schedule(problem, _costs(problem), [0, 1, 1])
    # 1 s, then 1 s for a million bytes and 10 s of latency.
    np.testing.assert_array_equal(found.op_start_seconds, [0, 12, 13])
    np.testing.assert_array_equal(found.op_end_seconds, [1, 13, 14])
    np.testing.assert_array_equal(found.transfer_start_seconds, [1])
    np.testing.assert_array_equal(found.transfer_end_seconds, [12])
    self.assertEqual(found.step_time_seconds, 14)

  def test_a_tensor_is_sent_once_to_each_device(self):
    problem = problems.build(
      ['a', 'b', 'c', 'd'], [(0, 1), (0, 2), (0, 3)], devices=3
    )
    found = simulator.schedule(problem, _costs(problem), [0, 1, 1, 2])
    np.testing.assert_array_equal(found.transfer_target, [1, 2])
    np.testing.assert_array_equal(found.op_start_seconds, [0, 12, 13, 12])

  def test_a_channel_carries_one_tensor_after_the_other(self):
    problem = problems.build(
      ['a', 'b', 'c'], [(0, 1), (0, 2)], devices=3, tensor_bytes=4_000_000
    )
    costs = _costs(problem)
    found = simulator.schedule(problem, costs, [0, 1, 2])
    np.testing.assert_array_equal(found.op_start_seconds, [0, 15, 15])
    costs = dataclasses.replace(
      costs, links=costs.links.one_channel_per_source()
    )
    found = simulator.schedule(problem, costs, [0, 1, 2])
    np.testing.assert_array_equal(found.op_start_seconds, [0, 15, 19])
    costs = _changed(costs, message_seconds=0.5)
    found = simulator.schedule(problem, costs, [0, 1, 2])
    np.testing.assert_array_equal(found.op_start_seconds, [0, 15.5, 20])

  def test_sending_and_receiving_keep_devices_busy(self):
    problem = problems.build(
      ['a', 'b', 'c', 'd'], [(0, 1), (0, 2)], tensor_bytes=1_000_000
    )
    costs = _changed(
      _costs(problem),
      send_seconds_per_message=2.0,
      receive_seconds_per_message=3.0,
      receive_seconds_per_byte=1e-6,
    )
    found = simulator.schedule(problem, costs, [0, 0, 1, 1])
    # c sends nothing. a: 0-1, send 1-3, b: 3-4. d: 0-1; the tensor arrives at
    # 14, is received until 18, then c runs.
    np.testing.assert_array_equal(found.op_start_seconds, [0, 3, 18, 0])
    np.testing.assert_array_equal(found.service_device, [0, 1])
    np.testing.assert_array_equal(found.service_start_seconds, [1, 14])
    np.testing.assert_array_equal(found.service_end_seconds, [3, 18])

  def test_slots(self):
    problem = problems.build(['a', 'b', 'c'], [], devices=1)
    for slots, seconds in ((1, 3), (2, 2), (3, 1)):
      costs = _costs(problem, concurrency=slots)
      found = simulator.simulate(problem, costs, [[0, 0, 0]])
      self.assertEqual(found.step_time_seconds[0], seconds)

  def test_a_gap_delays_the_next_op_but_not_the_result(self):
    problem = problems.chain(3)
    costs = _costs(problem, gap_seconds=5.0)
    found = simulator.schedule(problem, costs, [0, 0, 1])
    np.testing.assert_array_equal(found.op_end_seconds, [1, 7, 19])

  def test_loops_are_charged_per_iteration(self):
    # enter -> body -> exit; the body runs ten times.
    problem = problems.chain(3, tensor_bytes=1_000_000)
    costs = _costs(problem, op_runs=[1, 10, 1], gap_seconds=0.5)
    np.testing.assert_array_equal(costs.tensor_sends, [1, 1, 1])
    found = simulator.schedule(problem, costs, [0, 0, 0])
    # 10 runs with 9 gaps between them.
    np.testing.assert_array_equal(found.op_end_seconds, [1, 16, 17.5])
    both = _costs(problem, op_runs=[1, 10, 10])
    np.testing.assert_array_equal(both.tensor_sends, [1, 10, 1])
    found = simulator.schedule(problem, both, [0, 0, 1])
    # 11 s of the first two, ten messages, ten runs.
    self.assertEqual(found.step_time_seconds, 11 + 10 * (10 + 1) + 10)

  def test_host_memory_has_links_of_its_own(self):
    problem = problems.chain(2)
    costs = _costs(problem, host_output=np.array([[True, False]] * 2))
    fast = _changed(costs, latency_seconds=0.0, bytes_per_second=np.inf)
    costs = dataclasses.replace(costs, host_links=fast.links)
    found = simulator.schedule(problem, costs, [0, 1])
    self.assertEqual(found.step_time_seconds, 2)
    # Nothing in the memory of device 0; device 1 has it as its own.
    np.testing.assert_array_equal(found.peak_bytes, [0, 2_000_000])
    found = simulator.schedule(problem, costs, [1, 0])
    self.assertEqual(found.step_time_seconds, 13)

  def test_slower_is_not_faster_where_nothing_is_scheduled(self):
    # Elsewhere it may be: a list schedule can be lucky (Graham 1969).
    problem = problems.chain(5)
    costs = _changed(
      _costs(problem, gap_seconds=0.25), send_seconds_per_message=0.5
    )
    rng = np.random.default_rng(0)
    candidates = rng.integers(2, size=(20, 5))
    before = simulator.simulate(problem, costs, candidates).step_time_seconds
    slower = [
      dataclasses.replace(costs, op_seconds=costs.op_seconds + 0.1),
      dataclasses.replace(costs, gap_seconds=costs.gap_seconds + 0.1),
      dataclasses.replace(costs, op_runs=costs.op_runs + 1),
      *(
        _changed(costs, **{name: value})
        for name, value in (
          ('latency_seconds', 11.0),
          ('message_seconds', 1.0),
          ('bytes_per_second', 1e5),
          ('send_seconds_per_byte', 1e-6),
          ('receive_seconds_per_message', 1.0),
        )
      ),
    ]
    for changed in slower:
      after = simulator.simulate(problem, changed, candidates)
      self.assertTrue((after.step_time_seconds >= before).all())


class MemoryTest(absltest.TestCase):
  def test_a_tensor_goes_with_its_last_reader(self):
    problem = problems.chain(4, devices=1, tensor_bytes=10)
    costs = _costs(problem, temporary_bytes=[0, 100, 0, 0])
    found = simulator.schedule(problem, costs, [0, 0, 0, 0])
    # While op 1 runs: its input, its output, its temporaries.
    np.testing.assert_array_equal(found.peak_bytes, [120])
    np.testing.assert_array_equal(found.peak_time_seconds, [1])
    kinds = [(holder.kind, holder.op) for holder in found.peak_holders[0]]
    self.assertEqual(kinds, [('temporary', 1), ('output', 0), ('output', 1)])

  def test_a_shared_buffer_lives_as_long_as_its_sharers(self):
    problem = problems.chain(4, devices=1, tensor_bytes=10)
    graph = dataclasses.replace(
      problem.graph, types=('MatMul', 'Identity', 'MatMul', 'MatMul')
    )
    problem = dataclasses.replace(problem, graph=graph)
    found = simulator.schedule(problem, _costs(problem), [0, 0, 0, 0])
    levels = found.memory_bytes[found.memory_device == 0]
    # Never a second buffer for the identity; gone when op 2 ends.
    np.testing.assert_array_equal(found.peak_bytes, [20])
    self.assertEqual(levels[-1], 0)

  def test_variables_and_constants_stay(self):
    problem = problems.chain(2, devices=2, tensor_bytes=10)
    graph = dataclasses.replace(
      problem.graph, persistent_bytes=np.array([10, 0])
    )
    problem = dataclasses.replace(problem, graph=graph)
    found = simulator.schedule(problem, _costs(problem), [0, 1])
    # The constant once; its copy and the result on the other device.
    np.testing.assert_array_equal(found.peak_bytes, [10, 20])
    self.assertEqual(found.peak_holders[0][0].kind, 'persistent')
    self.assertEqual(found.peak_holders[1][1].kind, 'output')
    self.assertEqual(found.peak_holders[1][0].kind, 'received')

  def test_too_little_memory_is_a_status(self):
    problem = problems.chain(3, tensor_bytes=10)
    devices = tuple(
      dataclasses.replace(device, memory_bytes=15)
      for device in problem.devices.devices
    )
    problem = dataclasses.replace(
      problem, devices=dataclasses.replace(problem.devices, devices=devices)
    )
    simulated = simulator.Simulator(problem, _costs(problem, [1.0, 1.0, 1.0]))
    batch = simulated.simulate([[0, 0, 0]])
    self.assertFalse(batch.feasible[0])
    self.assertTrue(np.isnan(batch.step_time_seconds[0]))
    self.assertEqual(batch.unbounded_seconds[0], 3)
    self.assertIsNone(batch.best())
    found = simulated.schedule([0, 0, 0])
    self.assertIs(found.status, measurement.Status.OUT_OF_MEMORY)
    self.assertIsNone(found.step_time_seconds)
    self.assertIn('task:0/device:CPU:0 needs 20 of 15 bytes', found.reason)


class StatusTest(absltest.TestCase):
  def test_illegal_candidates_have_a_status(self):
    allowed = np.array([[True, True], [True, False]])
    problem = problems.chain(2, allowed=allowed)
    simulated = simulator.Simulator(problem, _costs(problem))
    batch = simulated.simulate([[0, 0], [0, 1], [-1, 0], [2, 0], [1, 0]])
    names = [status.value for status in batch.statuses()]
    self.assertEqual(names, ['ok', *['invalid_placement'] * 3, 'ok'])
    np.testing.assert_array_equal(
      np.isnan(batch.unbounded_seconds), [0, 1, 1, 1, 0]
    )
    np.testing.assert_array_equal(batch.peak_bytes[1:4], np.zeros((3, 2)))
    self.assertEqual(batch.best(), 0)
    with self.assertRaisesRegex(ValueError, 'may not use'):
      simulated.schedule([0, 1])

  def test_an_op_of_infinite_cost_has_a_status(self):
    problem = problems.chain(2)
    costs = _costs(problem)
    costs = dataclasses.replace(
      costs, op_seconds=np.array([[1, 1], [1, np.inf]])
    )
    batch = simulator.simulate(problem, costs, [[0, 0], [0, 1], [1, 0]])
    names = [status.value for status in batch.statuses()]
    self.assertEqual(names, ['ok', 'unsupported_op', 'ok'])
    found = simulator.schedule(problem, costs, [0, 1])
    self.assertIs(found.status, measurement.Status.UNSUPPORTED_OP)

  def test_wrong_shapes_are_refused(self):
    problem = problems.chain(3)
    simulated = simulator.Simulator(problem, _costs(problem))
    with self.assertRaisesRegex(ValueError, r'need \[B, 3\]'):
      simulated.simulate([[0, 0]])
    with self.assertRaisesRegex(ValueError, 'The cost model is of 2 ops'):
      simulator.Simulator(problem, _costs(problems.chain(2)))

  def test_nothing_to_do(self):
    problem = problems.build([], [])
    batch = simulator.simulate(problem, _costs(problem), np.zeros((2, 0)))
    np.testing.assert_array_equal(batch.step_time_seconds, [0, 0])
    empty = simulator.simulate(problem, _costs(problem), np.zeros((0, 0)))
    self.assertLen(empty, 0)


if __name__ == '__main__':
  absltest.main()
