import json

import numpy as np
from absl.testing import absltest

from placer.core import errors
from placer.core import measurement
from placer.core import placement
from placer.core import placement_problem
from placer.core import program
from placer.core import trial
from placer.testing import problems


class PlacementProblemTest(absltest.TestCase):
  def test_placement_and_candidate_are_inverse(self):
    problem = problems.fork_join()
    rng = np.random.default_rng(0)
    candidate = rng.integers(len(problem.devices), size=problem.num_groups)
    placed = problem.placement(candidate)
    self.assertLen(placed.devices, len(problem.graph))
    np.testing.assert_array_equal(problem.candidate(placed), candidate)

  def test_check_says_what_is_wrong(self):
    problem = problems.fork_join()
    with self.assertRaisesRegex(ValueError, 'shape'):
      problem.check(np.zeros(problem.num_groups + 1, int))
    with self.assertRaisesRegex(ValueError, 'Device indices'):
      problem.check(np.full(problem.num_groups, 99))

  def test_group_edges_count_a_tensor_once_for_each_reading_group(self):
    problem = problems.fork_join()
    source, target, size = problem.group_edges
    self.assertTrue(np.all(source != target))
    self.assertLen(set(zip(source.tolist(), target.tolist())), len(source))
    self.assertTrue(np.all(size >= 0))


class PlacementFileTest(absltest.TestCase):
  def test_round_trip(self):
    path = self.create_tempfile('placement.json').full_path
    saved = placement.Placement(
      {'a': '/d:0', 'w@body/b': '/d:1'}, 'f', 'local:2'
    )
    saved.save(path)
    self.assertEqual(placement.load(path), saved)

  def test_other_files_are_refused_with_the_reason(self):
    for text, reason in (
      ('{', 'not JSON'),
      ('{"schema": 9}', 'schema'),
      ('[]', 'schema'),
      ('{"schema": 1, "devices": [1]}', '"devices"'),
    ):
      path = self.create_tempfile(content=text).full_path
      with self.assertRaisesRegex(errors.UsageError, reason):
        placement.load(path)
    with self.assertRaisesRegex(errors.UsageError, 'Cannot read'):
      placement.load('/nowhere/placement.json')


class RecordsTest(absltest.TestCase):
  def test_a_trial_survives_json(self):
    measured = measurement.Measurement(
      measurement.Status.OK,
      step_times_seconds=(0.25, 0.5, 0.75),
      peak_memory_bytes={'d': 3},
      moved_ops=('x',),
    )
    old = trial.Trial(3, 'random', np.array([0, 1]), measured, 1.5, 'label')
    new = trial.from_json(json.loads(json.dumps(old.to_json())))
    self.assertEqual(new.to_json(), old.to_json())
    self.assertEqual(new.measurement.step_time_seconds, 0.5)

  def test_a_failure_needs_a_reason_and_has_no_time(self):
    with self.assertRaises(ValueError):
      measurement.Measurement(measurement.Status.CRASHED)
    failed = measurement.Measurement(measurement.Status.CRASHED, 'signal 9')
    self.assertIsNone(failed.step_time_seconds)
    with self.assertRaises(ValueError):
      measurement.Measurement(measurement.Status.OK)


class ProgramTest(absltest.TestCase):
  def test_working_names_of_inlined_ops_and_of_bodies(self):
    made = program.Program(
      b'', op_paths={'call/a': 'call@f/a', 'call/w': 'call@f/w', 'p_x': '_x'}
    )
    for working, path in (
      ('call/a', 'call@f/a'),
      ('call/w@body/add', 'call@f/w@body/add'),
      ('p_x', '_x'),
      ('plain', 'plain'),
      ('loop@body/add', 'loop@body/add'),
    ):
      self.assertEqual(made.path(working), path)
      self.assertEqual(made.working_name(path), working)

  def test_nearest_legal(self):
    allowed = np.array([[1, 1], [0, 1], [1, 0]], bool)
    found = placement_problem.nearest_legal(np.array([1, 0, 1]), allowed)
    np.testing.assert_array_equal(found, [1, 1, 0])
    rows = placement_problem.nearest_legal(
      np.array([[1, 0, 1], [0, 1, 0]]), allowed
    )
    np.testing.assert_array_equal(rows, [[1, 1, 0], [0, 1, 0]])
    self.assertEqual(rows.dtype, np.int32)


if __name__ == '__main__':
  absltest.main()
