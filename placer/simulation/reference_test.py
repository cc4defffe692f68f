"""The compiled simulator against the reference."""

import hypothesis
import numpy as np
from absl.testing import absltest

from placer.simulation import reference
from placer.simulation import simulator
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


if __name__ == '__main__':
  absltest.main()
