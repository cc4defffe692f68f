import json

from absl.testing import absltest

from placer.core import executed_step
from placer.reports import chrome_trace
from placer.reports import executed_trace
from placer.testing import problems

_DEVICES = problems.topology(2).devices
_A, _B = (device.name for device in _DEVICES)


def _step() -> executed_step.ExecutedStep:
  return executed_step.ExecutedStep(
    ops=(
      executed_step.ExecutedOp('a', 'MatMul', _A, 0.0, 0.5),
      executed_step.ExecutedOp('b', 'Exp', _A, 0.25, 0.75),
      executed_step.ExecutedOp('c', 'Exp', _A, 0.5, 0.625),
      executed_step.ExecutedOp('d', 'Add', _B, 1.0, 2.0),
    ),
    transfers=(
      executed_step.ExecutedTransfer('a', _A, _B, 64, 0.5, 1.0),
      executed_step.ExecutedTransfer('d', _B, _A, 8, 2.0, 2.5),
    ),
  )


class ExecutedTraceTest(absltest.TestCase):
  def test_ops_that_ran_at_once_are_in_rows_of_their_own(self):
    trace = executed_trace.build(_step(), _DEVICES, label='mine')
    bars = [event for event in trace['traceEvents'] if event['ph'] == 'X']
    ops = {bar['name']: bar for bar in bars if bar['cat'] == 'op'}
    rows = {name: (bar['pid'], bar['tid']) for name, bar in ops.items()}
    self.assertEqual(rows, {'a': (0, 0), 'b': (0, 1), 'c': (0, 0), 'd': (1, 0)})
    self.assertEqual((ops['d']['ts'], ops['d']['dur']), (1e6, 1e6))
    self.assertEqual(ops['a']['args'], {'type': 'MatMul'})
    self.assertEqual(trace['otherData']['placement'], 'mine')
    self.assertEqual(trace['otherData']['step_time_seconds'], 2.5)

  def test_transfers_have_a_process_of_their_own(self):
    trace = executed_trace.build(_step(), _DEVICES)
    events = trace['traceEvents']
    transfers = [event for event in events if event.get('cat') == 'transfer']
    self.assertEqual([bar['pid'] for bar in transfers], [2, 2])
    self.assertEqual([bar['tid'] for bar in transfers], [0, 1])
    self.assertEqual(transfers[0]['args']['bytes'], 64)
    processes = [
      event['args']['name']
      for event in events
      if event['name'] == 'process_name'
    ]
    short = [device.short_name for device in _DEVICES]
    self.assertEqual(processes, [*short, 'transfers'])
    rows = [
      event['args']['name']
      for event in events
      if event['name'] == 'thread_name' and event['pid'] == 2
    ]
    self.assertEqual(
      rows, [f'{short[0]} to {short[1]}', f'{short[1]} to {short[0]}']
    )

  def test_is_written_as_json(self):
    path = self.create_tempfile('trace_measured.json').full_path
    trace = executed_trace.build(_step(), _DEVICES)
    chrome_trace.write(trace, path)
    with open(path) as file:
      self.assertEqual(json.load(file), trace)


if __name__ == '__main__':
  absltest.main()
