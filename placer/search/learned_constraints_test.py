import numpy as np
from absl.testing import absltest

from placer.core import measurement
from placer.core import trial
from placer.policies import registry
from placer.search import budget
from placer.search import learned_constraints
from placer.search import loop
from placer.testing import fake_measurer
from placer.testing import problems


def _failed(problem, group: int, column: int, status) -> trial.Trial:
  op = int(problem.group_members[group][0])
  candidate = np.zeros(problem.num_groups, np.int32)
  candidate[group] = column
  return trial.Trial(
    0,
    'random',
    candidate,
    measurement.Measurement(
      status, 'NHWC only', details={'op': problem.graph.names[op]}
    ),
  )


class LearnedConstraintsTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.problem = problems.chain(4, devices=problems.topology(1, gpus=2))
    self.learned = learned_constraints.LearnedConstraints(self.problem)

  def test_one_failure_forbids_the_type_on_that_kind_of_device(self):
    failed = _failed(self.problem, 1, 2, measurement.Status.UNSUPPORTED_OP)
    self.assertRegex(self.learned.learn(failed), 'does not run on a GPU')
    kind = self.problem.graph.types[self.problem.group_members[1][0]]
    for group, members in enumerate(self.problem.group_members):
      has = any(self.problem.graph.types[op] == kind for op in members)
      np.testing.assert_array_equal(
        self.learned.allowed[group], [True, not has, not has]
      )
    repaired = self.learned.repair(np.full(4, 1, np.int32))
    self.assertTrue(self.learned.allowed[np.arange(4), repaired].all())
    self.assertEqual(self.learned.learn(failed), '')

  def test_other_failures_teach_nothing(self):
    for status in (
      measurement.Status.OUT_OF_MEMORY,
      measurement.Status.CRASHED,
    ):
      self.assertEqual(
        self.learned.learn(_failed(self.problem, 1, 2, status)), ''
      )
    np.testing.assert_array_equal(self.learned.allowed, self.problem.allowed)

  def test_what_can_go_nowhere_else_stays_allowed(self):
    problem = problems.chain(3, devices=2)
    learned = learned_constraints.LearnedConstraints(problem)
    failed = _failed(problem, 0, 1, measurement.Status.UNSUPPORTED_OP)
    self.assertEqual(learned.learn(failed), '')
    self.assertTrue(learned.allowed.all())

  def test_a_search_learns_from_one_failed_run(self):
    measurer = _Picky(self.problem)
    result = loop.search(
      self.problem,
      measurer,
      [registry.make('random', self.problem)],
      baselines=registry.baselines(self.problem),
      budget=budget.Budget(trials=12),
    )
    failed = [t for t in result.trials if not t.measurement.ok]
    self.assertLen(failed, 1)
    self.assertRegex(' '.join(result.notes), 'does not run on a GPU')


class _Picky(fake_measurer.FakeMeasurer):
  """Runs no op on a GPU."""

  def __init__(self, problem):
    super().__init__(failure=lambda candidate: None)
    self._problem = problem

  def measure(self, problem, candidates, **options):
    results = list(super().measure(problem, candidates, **options))
    for i, candidate in enumerate(candidates):
      on_gpu = np.flatnonzero(candidate > 0)
      if len(on_gpu):
        results[i] = _failed(
          problem,
          int(on_gpu[0]),
          int(candidate[on_gpu[0]]),
          measurement.Status.UNSUPPORTED_OP,
        ).measurement
    return results


if __name__ == '__main__':
  absltest.main()
