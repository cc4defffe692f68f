import dataclasses
import json
import pathlib

import numpy as np
from absl.testing import absltest

from placer.core import bound
from placer.core import trial
from placer.reports import json_report
from placer.testing import problems
from placer.testing import results


def _build(result=None, **options):
  options = {
    'command': ('placer', 'place'),
    'config': {'devices': 'local:2', 'steps': np.int64(3)},
    'seed': 4,
    'versions': {'numpy': '2'},
    'host': {'cpu_model': 'x', 'cores': 2},
    'date': '2026-11-30T00:00:00+00:00',
    **options,
  }
  return json_report.build(result or results.result(), **options)


class JsonReportTest(absltest.TestCase):
  def test_has_what_its_docstring_lists(self):
    report = _build()
    sections = [
      line.split()[0]
      for line in json_report.__doc__.splitlines()
      if line.startswith('    ') and line[4] != ' '
    ]
    self.assertCountEqual(report, sections)
    self.assertEqual(report['schema'], 1)
    self.assertEqual(report['config'], {'devices': 'local:2', 'steps': 3})
    self.assertEqual(report['seed'], 4)
    self.assertEqual(report['graph']['ops'], 28)
    self.assertLen(report['devices']['devices'], 2)
    self.assertLen(
      report['whole_host']['measurement']['step_times_seconds'], 20
    )

  def test_result(self):
    found = _build()['result']
    self.assertEqual(found['label'], 'hill_climb 7')
    self.assertTrue(found['improved'])
    self.assertEqual(found['interval'], [0.731, 0.764])
    self.assertEqual(found['reference'], 'single_device /job:worker/task:0')
    self.assertEqual(sum(found['ops_per_device'].values()), 28)

  def test_what_the_model_says(self):
    self.assertIsNone(_build()['model'])
    result = results.result(
      predicted_seconds=0.6, bound=bound.Bound(0.5, 'windows')
    )
    found = _build(result)['model']
    self.assertAlmostEqual(found.pop('within_bound'), 0.2)
    self.assertEqual(
      found,
      {
        'predicted_seconds': 0.6,
        'bound_seconds': 0.5,
        'bound_method': 'windows',
      },
    )
    fails = results.result(bound=bound.Bound(0.5, 'windows'))
    self.assertIsNone(_build(fails)['model']['within_bound'])
    none = results.result(bound=bound.Bound(np.inf, 'all placements'))
    self.assertIsNone(_build(none)['model'])

  def test_failed_rows_have_their_status(self):
    row = _build()['rows'][3]
    self.assertIsNone(row['ratio'])
    self.assertIsNone(row['step_time_seconds'])
    self.assertEqual(row['measurement']['status'], 'out_of_memory')

  def test_trials_can_be_read_again(self):
    result = results.result()
    again = [trial.from_json(t) for t in _build(result)['trials']]
    self.assertLen(again, 5)
    np.testing.assert_array_equal(
      again[4].candidate, result.trials[4].candidate
    )

  def test_links_are_kept(self):
    problem = problems.modules(devices=problems.topology(2, linked=True))
    report = _build(results.result(problem))
    self.assertLen(report['devices']['links'], 2)

  def test_numpy_values_in_details_are_written(self):
    result = results.result()
    measured = dataclasses.replace(
      result.chosen.measurement,
      details={'cores': np.arange(2), 'folder': pathlib.Path('/tmp')},
    )
    row = dataclasses.replace(result.chosen, measurement=measured)
    report = _build(dataclasses.replace(result, rows=(row,)))
    self.assertEqual(
      report['rows'][0]['measurement']['details'],
      {'cores': [0, 1], 'folder': '/tmp'},
    )

  def test_looks_at_this_machine_by_default(self):
    report = json_report.build(results.result())
    self.assertIn('numpy', report['versions'])
    self.assertGreaterEqual(report['host']['cores'], 1)
    self.assertGreater(report['host']['memory_bytes'], 0)
    self.assertNotEmpty(report['host']['cpu_model'])
    self.assertRegex(report['date'], r'^\d{4}-\d\d-\d\dT.*\+00:00$')

  def test_writes_in_one_step(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    path = folder / 'report.json'
    path.write_text('old')
    json_report.write(_build(), path)
    self.assertEqual(json.loads(path.read_text()), _build())
    self.assertEqual([file.name for file in folder.iterdir()], ['report.json'])


if __name__ == '__main__':
  absltest.main()
