"""What holds for every simulated step."""

import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.simulation import simulator
from placer.testing import random_steps

_SETTINGS = hypothesis.settings(
  max_examples=150, deadline=None, derandomize=True
)


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
      # Of ops that take turns more have begun than run; services do not.
      runs_to_the_end = np.isinf(costs.slice_seconds[device])
      here, serves = (
        (schedule.op_device == device) & runs_to_the_end,
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
    costs = dataclasses.replace(
      step.costs.scaled(2.0, 2.0), slice_seconds=2 * step.costs.slice_seconds
    )
    twice = once.with_costs(costs)
    np.testing.assert_array_equal(
      once.simulate(step.candidates).unbounded_seconds * 2,
      twice.simulate(step.candidates).unbounded_seconds,
    )

  def test_more_memory_makes_more_placements_run(self):
    step = random_steps.make(60, 3, seed=3)
    candidates = np.random.default_rng(0).integers(
      3, size=(100, step.problem.num_groups)
    )
    feasible = []
    for limit in (1000, 4000, 16_000, cost_model.NO_LIMIT):
      costs = dataclasses.replace(
        step.costs, memory_bytes=np.full(3, limit, np.int64)
      )
      batch = simulator.simulate(step.problem, costs, candidates)
      feasible.append(batch.feasible)
    for less, more in zip(feasible[:-1], feasible[1:], strict=True):
      self.assertTrue((more | ~less).all())
    self.assertFalse(feasible[0].all())
    self.assertTrue(feasible[-1].all())

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


if __name__ == '__main__':
  absltest.main()
