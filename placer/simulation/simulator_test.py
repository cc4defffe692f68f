"""The compiled simulator against the reference, by hand and in its laws."""

import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.core import link_costs
from placer.core import measurement
from placer.simulation import reference
from placer.simulation import simulator
from placer.testing import problems
from placer.testing import random_steps

_SETTINGS = hypothesis.settings(
  max_examples=150, deadline=None, derandomize=True
)
_FIELDS = (
  'op_device',
  'op_start_seconds',
  'op_end_seconds',
  'transfer_op',
  'transfer_tensor',
  'transfer_source',
  'transfer_target',
  'transfer_start_seconds',
  'transfer_end_seconds',
  'peak_bytes',
  'peak_time_seconds',
)


def _costs(problem, seconds=1.0, **options) -> cost_model.CostModel:
  """Each op takes `seconds`; a message takes 10 s and 1 s a million bytes."""
  count = len(problem.devices)
  zeros = np.zeros((count, count))
  links = link_costs.LinkCosts(
    latency_seconds=zeros + 10.0,
    message_seconds=zeros,
    bytes_per_second=zeros + 1e6,
    send_seconds_per_message=zeros,
    send_seconds_per_byte=zeros,
    receive_seconds_per_message=zeros,
    receive_seconds_per_byte=zeros,
    channel=np.arange(count * count, dtype=np.int32).reshape(count, count),
  )
  options.setdefault('links', links)
  return cost_model.build(
    problem.graph,
    problem.devices,
    np.broadcast_to(np.asarray(seconds, float), len(problem.graph)),
    **options,
  )


def _changed(costs: cost_model.CostModel, **changes) -> cost_model.CostModel:
  """The same model with other links; a number counts for all of them."""
  shape = costs.links.channel.shape
  changes = {
    name: np.broadcast_to(np.asarray(value), shape).copy()
    for name, value in changes.items()
  }
  links = dataclasses.replace(costs.links, **changes)
  return dataclasses.replace(costs, links=links, host_links=links)


class OracleTest(absltest.TestCase):
  @hypothesis.given(step=random_steps.steps())
  @_SETTINGS
  def test_batches_equal_the_reference_to_the_bit(self, step):
    compiled = simulator.Simulator(step.problem, step.costs)
    batch = compiled.simulate(step.candidates, priority=step.priority)
    starts = compiled.op_start_seconds(step.candidates, priority=step.priority)
    plain = reference.Reference(step.problem, step.costs)
    for b, candidate in enumerate(step.candidates):
      expected = plain.schedule(candidate, priority=step.priority)
      self.assertEqual(batch.statuses()[b], expected.status)
      self.assertEqual(batch.unbounded_seconds[b], expected.unbounded_seconds)
      np.testing.assert_array_equal(batch.peak_bytes[b], expected.peak_bytes)
      np.testing.assert_array_equal(starts[b], expected.op_start_seconds)

  @hypothesis.given(step=random_steps.steps())
  @_SETTINGS
  def test_schedules_equal_the_reference(self, step):
    candidate = step.candidates[0]
    found = simulator.Simulator(step.problem, step.costs).schedule(
      candidate, priority=step.priority
    )
    expected = reference.Reference(step.problem, step.costs).schedule(
      candidate, priority=step.priority
    )
    self.assertEqual(found.status, expected.status)
    self.assertEqual(found.reason, expected.reason)
    for name in _FIELDS:
      np.testing.assert_array_equal(
        getattr(found, name), getattr(expected, name), name
      )
    self.assertEqual(found.peak_holders, expected.peak_holders)
    self.assertEqual(_services(found), _services(expected))
    self.assertEqual(_levels(found), _levels(expected))

  def test_a_large_graph_equals_the_reference(self):
    step = random_steps.make(2000, 6, seed=1)
    plain = reference.Reference(step.problem, step.costs)
    batch = simulator.simulate(step.problem, step.costs, step.candidates)
    for b, candidate in enumerate(step.candidates):
      expected = plain.schedule(candidate)
      self.assertEqual(batch.unbounded_seconds[b], expected.unbounded_seconds)
      np.testing.assert_array_equal(batch.peak_bytes[b], expected.peak_bytes)


def _services(schedule) -> list[tuple]:
  """Services that end at the same time come in any order."""
  return sorted(
    zip(
      schedule.service_end_seconds.tolist(),
      schedule.service_start_seconds.tolist(),
      schedule.service_device.tolist(),
      schedule.service_transfer.tolist(),
      strict=True,
    )
  )


def _levels(schedule) -> dict[tuple[int, float], int]:
  """What is in memory after the last change at each time that has one."""
  levels, before = {}, {}
  for seconds, device, size in zip(
    schedule.memory_time_seconds.tolist(),
    schedule.memory_device.tolist(),
    schedule.memory_bytes.tolist(),
    strict=True,
  ):
    levels[device, seconds] = size
  for (device, seconds), size in sorted(levels.items()):
    if before.get(device) == size:
      del levels[device, seconds]
    before[device] = size
  return levels


class LawsTest(absltest.TestCase):
  @hypothesis.given(step=random_steps.steps())
  @_SETTINGS
  def test_schedules_are_possible(self, step):
    schedule = simulator.schedule(step.problem, step.costs, step.candidates[0])
    graph, costs = step.problem.graph, step.costs
    arrivals = {}
    for op, tensor, target, seconds in zip(
      schedule.transfer_op.tolist(),
      schedule.transfer_tensor.tolist(),
      schedule.transfer_target.tolist(),
      schedule.transfer_end_seconds.tolist(),
      strict=True,
    ):
      self.assertNotIn((op, tensor, target), arrivals)
      arrivals[op, tensor, target] = seconds
    for source, target, tensor, is_back in zip(
      graph.edge_source.tolist(),
      graph.edge_target.tolist(),
      graph.edge_tensor.tolist(),
      graph.edge_is_back.tolist(),
      strict=True,
    ):
      device = schedule.op_device[target]
      if is_back:
        continue
      there = schedule.op_end_seconds[source]
      if device != schedule.op_device[source]:
        there = arrivals[source, tensor, device]
      self.assertGreaterEqual(schedule.op_start_seconds[target], there)
    self._check_slots(schedule, costs)

  def _check_slots(self, schedule, costs) -> None:
    for device, slots in enumerate(costs.concurrency.tolist()):
      here, serves = (
        schedule.op_device == device,
        schedule.service_device == device,
      )
      starts = np.concatenate(
        [
          schedule.op_start_seconds[here],
          schedule.service_start_seconds[serves],
        ]
      )
      ends = np.concatenate(
        [
          schedule.op_end_seconds[here] + costs.gap_seconds[here, device],
          schedule.service_end_seconds[serves],
        ]
      )
      for time in starts:
        self.assertLessEqual(((starts <= time) & (time < ends)).sum(), slots)

  @hypothesis.given(step=random_steps.steps())
  @_SETTINGS
  def test_memory_comes_and_goes(self, step):
    schedule = simulator.schedule(step.problem, step.costs, step.candidates[0])
    persistent = np.bincount(
      schedule.op_device,
      step.problem.graph.persistent_bytes,
      minlength=len(step.problem.devices),
    )
    for device, size in enumerate(persistent):
      levels = schedule.memory_bytes[schedule.memory_device == device]
      self.assertGreaterEqual(levels.min(), size)
      self.assertEqual(levels[0], size)
      self.assertEqual(levels[-1], size)
      self.assertEqual(levels.max(), schedule.peak_bytes[device])
      held = sum(holder.bytes for holder in schedule.peak_holders[device])
      self.assertEqual(held, schedule.peak_bytes[device])

  @hypothesis.given(step=random_steps.steps(max_devices=1))
  @_SETTINGS
  def test_one_device_takes_the_sum_of_its_ops(self, step):
    costs = dataclasses.replace(step.costs, concurrency=np.ones(1, np.int64))
    batch = simulator.simulate(step.problem, costs, step.candidates[:1])
    runs, gaps = costs.op_runs, costs.gap_seconds[:, 0]
    total = (costs.op_seconds[:, 0] * runs + gaps * runs).sum()
    # Without the gap after the last op, whichever that is.
    self.assertLessEqual(batch.unbounded_seconds[0], total + 1e-9)
    self.assertGreaterEqual(
      batch.unbounded_seconds[0], total - gaps.max(initial=0) - 1e-9
    )

  @hypothesis.given(step=random_steps.steps())
  @_SETTINGS
  def test_a_step_is_between_its_bounds(self, step):
    schedule = simulator.schedule(step.problem, step.costs, step.candidates[0])
    costs = step.costs
    here = schedule.op_device
    ops = np.arange(len(here))
    seconds = costs.op_seconds[ops, here] * costs.op_runs
    load = np.bincount(here, seconds, minlength=costs.num_devices)
    self.assertGreaterEqual(
      schedule.unbounded_seconds + 1e-9,
      (load / costs.concurrency).max(initial=0),
    )
    # Until it ends, there is always something that goes on.
    transfers = schedule.transfer_end_seconds - schedule.transfer_start_seconds
    services = schedule.service_end_seconds - schedule.service_start_seconds
    gaps = costs.gap_seconds[ops, here] * costs.op_runs
    at_most = sum(part.sum() for part in (seconds, gaps, transfers, services))
    self.assertLessEqual(schedule.unbounded_seconds, at_most + 1e-9)

  @hypothesis.given(step=random_steps.steps())
  @_SETTINGS
  def test_twice_the_costs_take_twice_the_time(self, step):
    once = simulator.Simulator(step.problem, step.costs)
    twice = once.with_costs(step.costs.scaled(2.0, 2.0))
    np.testing.assert_array_equal(
      once.simulate(step.candidates).unbounded_seconds * 2,
      twice.simulate(step.candidates).unbounded_seconds,
    )

  def test_threads_change_nothing(self):
    step = random_steps.make(300, 3, seed=5)
    candidates = np.random.default_rng(0).integers(
      3, size=(700, step.problem.num_groups)
    )
    one = simulator.Simulator(step.problem, step.costs, threads=1)
    many = simulator.Simulator(step.problem, step.costs, threads=4)
    for priority in (None, np.arange(300)[::-1]):
      found = many.simulate(candidates, priority=priority)
      expected = one.simulate(candidates, priority=priority)
      np.testing.assert_array_equal(
        found.unbounded_seconds, expected.unbounded_seconds
      )
      np.testing.assert_array_equal(found.peak_bytes, expected.peak_bytes)


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
    np.testing.assert_array_equal(found.busy_seconds, [1, 2])

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
