import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import bound
from placer.core import measurement
from placer.reports import table
from placer.testing import problems
from placer.testing import results

_EXPECTED = """\
28 ops in 28 groups on 2 devices (--devices=local:2); 5 placements tried in 171 s

   placement                         step ms (quartiles)  speed-up (95%)     ops per device  peak MB
----------------------------------------------------------------------------------------------------
   single_device /job:worker/task:0  853 (832-874)        1.00x (reference)  28/0                300
   single_device /job:worker/task:1  861 (839-883)        0.99x (0.98-1.01)  0/28                300
   whole host as one device          441 (430-452)        1.93x (1.90-1.97)                      300
   expert layers                     872 (850-894)        0.98x (trial)      14/14               300
   expert branches                   out_of_memory                           14/14
>  hill_climb 7                      634 (618-650)        1.34x (1.31-1.37)  14/14               300

Best on these devices: hill_climb 7, 634 ms a step, 1.34x as fast as the best single device. Best on
this host: the whole host as one device, 441 ms, 1.93x as fast as the best single device. Use the
split only where such devices are really separate, on several machines or sockets.
- Three ops have no known shape; 1 was assumed.
"""  # noqa: E501


class TableTest(absltest.TestCase):
  def test_golden(self):
    self.assertEqual(table.render(results.result()), _EXPECTED)

  def test_single_device_is_best(self):
    result = results.result(improved=False, whole_host=None)
    result = dataclasses.replace(result, chosen=result.rows[0])
    text = table.render(result)
    self.assertIn(
      'Best on these devices: one device, single_device /job:worker/task:0, '
      '853 ms a step. No',
      text,
    )
    self.assertNotIn('whole host', text)
    self.assertIn('\n>  single_device /job:worker/task:0', text)

  def test_single_device_and_a_faster_whole_host(self):
    result = results.result(improved=False)
    result = dataclasses.replace(result, chosen=result.rows[0])
    self.assertEndsWith(
      table.verdict(result),
      'Best on this host: the whole host as one device, 441 ms, 1.93x as fast '
      'as the best single device.',
    )

  def test_slower_or_failed_whole_host(self):
    slower = results.result(
      whole_host=results.whole_host(results.measured(0.7))
    )
    self.assertEndsWith(
      table.verdict(slower), ' The whole host as one device is slower: 700 ms.'
    )
    failed = measurement.Measurement(measurement.Status.TIMEOUT, 'too long')
    text = table.render(results.result(whole_host=results.whole_host(failed)))
    self.assertRegex(text, 'whole host as one device +timeout')

  def test_no_single_device_runs(self):
    result = results.result(reference_label='', improved=False, whole_host=None)
    self.assertStartsWith(
      table.verdict(result),
      'No single device can run this graph; hill_climb 7 can: 634 ms a step.',
    )

  def test_simulated_devices_are_said_to_be(self):
    topology = dataclasses.replace(
      problems.topology(2), spec='simulated:k80x2', is_simulated=True
    )
    row = dataclasses.replace(
      results.result().rows[-1],
      measurement=measurement.Measurement(
        measurement.Status.OK, step_times_seconds=(0.5,) * 3
      ),
      interval=(0.7, 0.7),
    )
    text = table.render(
      results.result(
        problems.modules(devices=topology),
        rows=(row,),
        chosen=row,
        whole_host=None,
      )
    )
    self.assertIn('simulated step ms', text)
    self.assertRegex(text, r'hill_climb 7 +500 +1.34x +14/14')
    self.assertIn('Best in simulation, where nothing was run', text)

  def test_logical_devices_are_for_correctness_only(self):
    topology = dataclasses.replace(
      problems.topology(2),
      spec='logical:2',
      timing_is_meaningful=False,
      stands_for='logical CPU devices of one process, sharing its threads.',
    )
    text = table.render(results.result(problems.modules(devices=topology)))
    self.assertIn('CORRECTNESS ONLY: the devices of --devices=logical:2', text)
    self.assertIn('Devices: logical CPU devices of one process', text)
    self.assertIn('proves only that it runs', text)
    self.assertNotIn('as fast as', text)

  def test_never_wider_than_a_hundred_columns(self):
    problem = problems.modules(devices=problems.topology(2, gpus=6))
    result = results.result(problem, notes=('word ' * 60,))
    rows = [
      dataclasses.replace(
        row, label=f'{row.label} /device:XPU_{"LONG" * 9}:{i}'
      )
      for i, row in enumerate(result.rows)
    ]
    result = dataclasses.replace(result, rows=tuple(rows), chosen=rows[-1])
    text = table.render(result)
    self.assertLessEqual(max(map(len, text.splitlines())), 100)
    self.assertIn('on 2 of 8', text)
    # Cut in the middle, so that the ends tell them apart.
    self.assertRegex(text, r'\n   single_device \S*…\S+:1  ')

  def test_columns_without_content_are_left_out(self):
    bare = dataclasses.replace(results.measured(0.5), peak_memory_bytes={})
    result = results.result(whole_host=None)
    rows = tuple(
      dataclasses.replace(row, measurement=bare) for row in result.rows
    )
    text = table.render(dataclasses.replace(result, rows=rows, chosen=rows[-1]))
    self.assertNotIn('peak', text)

  def test_how_far_from_the_best_it_is_in_the_model(self):
    proved = bound.Bound(0.5, 'windows')
    result = results.result(predicted_seconds=0.6, bound=proved)
    self.assertEqual(
      table.within_bound(result),
      'In the model it takes 600 ms, within 20.0 % of the bound: no placement '
      'of these groups takes less than 500 ms (windows).',
    )
    self.assertIn('\nIn the model it takes 600 ms', table.render(result))
    best = results.result(predicted_seconds=0.5, bound=proved)
    self.assertEndsWith(
      table.within_bound(best),
      'no placement of these groups takes less (windows).',
    )
    fails = results.result(bound=proved)
    self.assertStartsWith(
      table.within_bound(fails), 'The model says that this placement does not'
    )
    none = results.result(bound=bound.Bound(float('inf'), 'all placements'))
    self.assertEqual(table.within_bound(none), '')
    self.assertEqual(table.within_bound(results.result()), '')

  def test_digits_follow_the_size(self):
    texts = [
      table.render(
        results.result(whole_host=results.whole_host(results.measured(seconds)))
      )
      for seconds in (0.00123, 0.0456, 7.89)
    ]
    self.assertIn('1.23 (1.20-1.26)', texts[0])
    self.assertIn('45.6 (44.5-46.7)', texts[1])
    self.assertIn('7890 (7693-8087)', texts[2])

  def test_ops_per_device(self):
    problem = problems.chain(4, devices=3, op_group=[0, 0, 0, 1])
    counts = table.ops_per_device(problem, np.array([2, 0]))
    self.assertEqual(counts, (1, 0, 3))


if __name__ == '__main__':
  absltest.main()
