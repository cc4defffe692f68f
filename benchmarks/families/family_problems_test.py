"""Tests for family_problems and problem_file: one real member a family."""

import dataclasses
import os
import pathlib
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from benchmarks import families
from benchmarks.families import base
from benchmarks.families import family_problems
from placer.core import placement_problem
from placer.devices import target
from placer.simulation import simulator


def _arrays(problem: placement_problem.PlacementProblem) -> dict:
  """All arrays and strings of a problem, its graph and its costs."""
  found = {}
  for owner in (problem, problem.graph, problem.costs):
    for field in dataclasses.fields(owner):
      value = getattr(owner, field.name)
      if isinstance(value, (np.ndarray, tuple, dict)):
        found[type(owner).__name__, field.name] = value
  return found


class FamilyProblemsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.enter_context(
      mock.patch.dict(os.environ, PLACER_CACHE_DIR=str(self.folder))
    )
    self.devices = target.resolve('simulated:k80x2')

  @parameterized.parameters(('cifar10', 128), ('ptb', 128), ('nmt', 160))
  def test_a_member_imports_and_runs_on_one_gpu(self, family, groups):
    name, problem = next(families.problems(family, 'test', self.devices))
    self.assertEqual(name, f'{family}_16')
    # No CPU is there: every op of the step has a kernel for GPUs.
    self.assertTrue(problem.allowed.all())
    self.assertEqual(problem.num_groups, groups)
    self.assertBetween(len(problem.graph), 2_000, 13_000)
    self.assertTrue(problem.graph.tensor_shape_known.all())
    batch = simulator.simulate(
      problem, problem.costs, np.zeros((1, groups), np.int32)
    )
    self.assertTrue(batch.feasible.all())

  def test_the_second_reading_is_the_first(self):
    member = base.members('cifar10')[0]
    first = family_problems.problem_of(member, self.devices, 20)
    (file,) = (self.folder / 'families').iterdir()
    written = file.stat().st_mtime_ns
    second = family_problems.problem_of(member, self.devices, 20)
    self.assertEqual(file.stat().st_mtime_ns, written)
    made = family_problems._make(member, self.devices, 20)
    for problem in (first, second):
      self.assertEqual(problem.fingerprint, made.fingerprint)
      got, want = _arrays(problem), _arrays(made)
      self.assertEqual(got.keys(), want.keys())
      for key, value in want.items():
        np.testing.assert_equal(got[key], value, str(key))

  def test_one_file_serves_any_number_of_gpus(self):
    member = base.members('nmt')[0]
    more = target.resolve('simulated:k80x4')
    two = family_problems.problem_of(member, self.devices, 12)
    four = family_problems.problem_of(member, more, 12)
    self.assertLen(list((self.folder / 'families').iterdir()), 1)
    self.assertEqual(
      [two.allowed.shape, four.allowed.shape], [(12, 2), (12, 4)]
    )
    made = family_problems._make(member, more, 12)
    self.assertEqual(four.fingerprint, made.fingerprint)
    self.assertEqual(four.costs.op_seconds.shape[1], 4)

  def test_other_types_and_groups_are_other_files(self):
    member = base.members('nmt')[0]
    mixed = target.resolve('simulated:k80x2+cpu_core')
    made = family_problems._make(member, mixed, 8)
    got = family_problems.problem_of(member, mixed, 8)
    self.assertEqual(got.fingerprint, made.fingerprint)
    family_problems.problem_of(member, self.devices, 8)
    family_problems.problem_of(member, self.devices, 9)
    self.assertLen(list((self.folder / 'families').iterdir()), 3)


if __name__ == '__main__':
  absltest.main()
