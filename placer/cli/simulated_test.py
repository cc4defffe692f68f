"""The commands on simulated devices and graphs of measured costs."""

import contextlib
import io
import json
import pathlib
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from placer.cli import main
from placer.cli import prediction
from placer.core import placement
from placer.measurers import session_measurer
from placer.testing import graphs
from placer.testing import shared_inputs

_WORKLOAD = {
  'maxFPGAs': 2,
  'maxSizePerFPGA': 250.0,
  'maxCPUs': 4,
  'nodes': [
    {
      'id': i,
      'name': f'n{i}',
      'fpgaLatency': 4.0,
      'cpuLatency': 40.0,
      'size': 100.0,
      'supportedOnFpga': 1,
    }
    for i in range(4)
  ],
  # Two chains; accelerators hold two nodes each.
  'edges': [
    {'sourceId': i, 'destId': i + 2, 'cost': 1.0, 'size': 10.0}
    for i in range(2)
  ],
}


def _placer(*arguments):
  """(exit code, what was printed), in this process."""
  out, err = io.StringIO(), io.StringIO()
  with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
    code = main.main(['placer', *map(str, arguments)])
  return code, out.getvalue() + err.getvalue()


class SimulatedTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.out = self.folder / 'out'
    self.file = self.folder / 'work.txt'  # the suffix doesn't matter
    self.file.write_text(json.dumps(_WORKLOAD))
    # Nothing may be run.
    self.enter_context(
      mock.patch.object(
        session_measurer, 'SessionMeasurer', side_effect=AssertionError
      )
    )

  def _place(self, *arguments):
    return _placer(
      'place',
      '--policy=random',
      '--budget_trials=60',
      f'--output_dir={self.out}',
      *arguments,
    )

  def _report(self):
    return json.loads((self.out / 'report.json').read_text())

  def test_place_and_measure_a_graph(self):
    graph = self.folder / 'fork.pb'
    graph.write_bytes(graphs.fork_join().SerializeToString())
    arguments = (f'--graph={graph}', '--devices=simulated:k80x2+cpu_core')
    code, text = self._place(*arguments)
    self.assertEqual(code, 0, text)
    self.assertIn('simulated step ms', text)
    self.assertIn('nothing was run', text)
    self.assertTrue((self.out / 'placed_graph.pb').exists())
    report = self._report()
    self.assertTrue(report['devices']['is_simulated'])
    self.assertIsNone(report['whole_host'])
    model = report['model']
    self.assertAlmostEqual(
      model['predicted_seconds'], report['result']['step_time_seconds']
    )
    self.assertLessEqual(model['bound_seconds'], model['predicted_seconds'])
    self.assertIn('In the model it takes', text)
    trace = json.loads((self.out / prediction.TRACE).read_text())
    ops = [e for e in trace['traceEvents'] if e.get('cat') == 'op']
    self.assertLen(ops, report['graph']['ops'])
    self.assertIn(prediction.TRACE, text)
    code, text = self._place(*arguments)
    self.assertIn('Going on after', text)
    file = self.out / 'placement.json'
    code, text = _placer('measure', f'--graph={graph}', f'--placement={file}')
    self.assertEqual(code, 0, text)
    self.assertIn('--devices=simulated:k80x2+cpu_core', text)

  def test_place_and_measure_a_cost_graph_on_its_own_devices(self):
    code, text = self._place(f'--graph={self.file}')
    self.assertEqual(code, 0, text)
    found = placement.load(self.out / 'placement.json').devices
    # A chain on each accelerator: 8 ms; nothing else is as fast.
    self.assertEqual(found['n0'], found['n2'])
    self.assertEqual(found['n1'], found['n3'])
    self.assertNotEqual(found['n0'], found['n1'])
    self.assertTrue(found['n0'].rpartition('device:')[2].startswith('GPU'))
    report = self._report()
    self.assertAlmostEqual(report['result']['step_time_seconds'], 0.008)
    statuses = {t['measurement']['status'] for t in report['trials']}
    self.assertEqual(statuses, {'ok', 'out_of_memory'})
    self.assertEmpty(list(self.out.glob('placed*')))
    code, text = _placer(
      'measure',
      f'--graph={self.file}',
      f'--placement={self.out / "placement.json"}',
    )
    self.assertEqual(code, 0, text)
    self.assertRegex(text, r'>  placement +8.00 +10.00x|>  placement +8.00')

  def test_a_memory_limit_counts(self):
    code, text = self._place(f'--graph={self.file}', '--memory_limit=150')
    self.assertEqual(code, 3, text)
    self.assertIn('GPU:0 needs', text)

  def test_inspect_a_cost_graph(self):
    code, text = _placer('inspect', f'--graph={self.file}')
    self.assertEqual(code, 0)
    self.assertIn('2 accelerators of 0 MB, 4 CPUs (--devices=auto)', text)
    self.assertIn('at least    8.0 ms', text)
    code, text = _placer('inspect', f'--graph={self.file}', '--json')
    self.assertEqual(json.loads(text)['ops'], 4)

  @parameterized.parameters(
    (('--devices=local:2',), 1, '--devices=simulated:v100x4'),
    (('--devices=simulated:k81x2',), 1, 'k80'),
    (('--devices=simulated',), 1, 'simulated:k80x4'),
    (('--fetches=x',), 1, '--fetches is of TensorFlow graphs'),
  )
  def test_what_makes_no_sense_says_what_would(self, arguments, code, text):
    found, printed = self._place(f'--graph={self.file}', *arguments)
    self.assertEqual(found, code, printed)
    self.assertIn(text, printed)

  def test_a_mistake_in_the_file_exits_2(self):
    self.file.write_text(json.dumps(_WORKLOAD).replace('"fpgaLatency": 4', '4'))
    code, _ = _placer('inspect', f'--graph={self.file}')
    self.assertEqual(code, 2)

  def test_shared_workloads(self):
    folder = shared_inputs.workloads()
    for name, devices in (
      ('dnn_partitioning/OperatorGraphs_bert_l-3_inference.json', 'auto'),
      ('pipedream/gnmt.txt', 'simulated:v100x4'),
    ):
      self.out = self.folder / name
      code, text = self._place(
        f'--graph={folder / name}', f'--devices={devices}'
      )
      self.assertEqual(code, 0, text)
      self.assertGreater(self._report()['result']['step_time_seconds'], 0)


if __name__ == '__main__':
  absltest.main()
