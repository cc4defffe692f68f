import collections
import json
import pathlib

import hypothesis
import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.reports import chrome_trace
from placer.simulation import simulator
from placer.testing import problems
from placer.testing import random_steps


def _bars(trace, *categories):
  return [e for e in trace['traceEvents'] if e.get('cat') in categories]


class ChromeTraceTest(absltest.TestCase):
  @hypothesis.given(random_steps.steps())
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_is_the_schedule(self, step):
    problem = step.problem
    schedule = simulator.schedule(problem, step.costs, step.candidates[0])
    trace = chrome_trace.build(problem, schedule)
    json.dumps(trace, allow_nan=False)
    # Every op once, on its device, at its time.
    ops = {bar['name']: bar for bar in _bars(trace, 'op')}
    self.assertLen(_bars(trace, 'op'), len(problem.graph))
    for op, name in enumerate(problem.graph.names):
      bar = ops[name]
      self.assertEqual(bar['pid'], schedule.op_device[op])
      start, end = schedule.op_start_seconds[op], schedule.op_end_seconds[op]
      self.assertEqual(bar['ts'], start * 1e6)
      self.assertEqual(bar['dur'], (end - start) * 1e6)
    found = sorted(bar['ts'] for bar in _bars(trace, 'transfer'))
    expected = np.sort(schedule.transfer_start_seconds * 1e6)
    np.testing.assert_array_equal(found, expected)
    services = _bars(trace, 'send', 'receive')
    self.assertLen(services, len(schedule.service_device))

  @hypothesis.given(random_steps.steps())
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_nothing_overlaps_in_a_row_and_slots_are_enough(self, step):
    schedule = simulator.schedule(step.problem, step.costs, step.candidates[0])
    trace = chrome_trace.build(step.problem, schedule)
    rows = collections.defaultdict(list)
    for bar in _bars(trace, 'op', 'send', 'receive', 'transfer'):
      rows[bar['pid'], bar['tid']].append((bar['ts'], bar['ts'] + bar['dur']))
    for bars in rows.values():
      bars.sort()
      for (_, end), (start, _) in zip(bars[:-1], bars[1:], strict=True):
        self.assertLessEqual(end, start + 1e-6)
    for process, row in rows:
      if process < len(step.problem.devices) and np.isinf(
        step.costs.slice_seconds[process]
      ):
        self.assertLess(row, step.costs.concurrency[process])

  def test_memory_is_a_counter_with_a_mark_at_the_peak(self):
    problem = problems.two_chains(2, devices=problems.topology(linked=True))
    costs = cost_model.build(problem.graph, problem.devices, np.ones(4))
    candidate = np.array([0, 1, 0, 1], np.int32)
    schedule = simulator.schedule(problem, costs, candidate)
    events = chrome_trace.build(problem, schedule)['traceEvents']
    counter = [e for e in events if e['ph'] == 'C' and e['pid'] == 1]
    times = [event['ts'] for event in counter]
    self.assertEqual(times, sorted(set(times)))
    self.assertEqual(
      max(event['args']['bytes'] for event in counter), schedule.peak_bytes[1]
    )
    (peak,) = [e for e in events if e['ph'] == 'i' and e['pid'] == 1]
    self.assertEqual(peak['ts'], schedule.peak_time_seconds[1] * 1e6)
    self.assertEqual(sum(peak['args'].values()), schedule.peak_bytes[1])

  def test_names_and_file(self):
    problem = problems.chain(2, devices=problems.topology(linked=True))
    costs = cost_model.build(problem.graph, problem.devices, np.ones(2))
    schedule = simulator.schedule(problem, costs, np.array([0, 1]))
    trace = chrome_trace.build(problem, schedule, label='by hand')
    names = {
      event['args']['name']
      for event in trace['traceEvents']
      if event['ph'] == 'M'
    }
    one, other = (device.short_name for device in problem.devices.devices)
    self.assertEqual(
      names, {one, other, 'slot', 'transfers', f'{one} to {other}'}
    )
    (transfer,) = _bars(trace, 'transfer')
    self.assertEqual(transfer['args']['bytes'], problems.TENSOR_BYTES)
    file = pathlib.Path(self.create_tempdir().full_path, 'trace.json')
    chrome_trace.write(trace, file)
    self.assertEqual(json.loads(file.read_text()), trace)

  def test_a_step_without_an_end_has_no_trace(self):
    problem = problems.chain(2, devices=problems.topology(linked=True))
    seconds = np.array([[1.0, np.inf]] * 2)
    costs = cost_model.build(problem.graph, problem.devices, seconds)
    schedule = simulator.schedule(problem, costs, np.array([0, 1]))
    with self.assertRaisesRegex(ValueError, 'without an end'):
      chrome_trace.build(problem, schedule)


if __name__ == '__main__':
  absltest.main()
