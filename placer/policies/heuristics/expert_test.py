import numpy as np
from absl.testing import absltest

from placer.policies.heuristics import expert
from placer.testing import problems


class ExpertTest(absltest.TestCase):
  def test_suggests_each_different_split_once(self):
    problem = problems.modules(3, flops=1e10)
    policy = expert.Expert(problem)
    found = [*policy.suggest(1), *policy.suggest(9)]
    self.assertEqual(
      [suggestion.label for suggestion in found],
      [
        'expert layers',
        'expert branches',
        'expert by module name',
        'expert by branch name',
      ],
    )
    self.assertLen({s.candidate.tobytes() for s in found}, 4)

  def test_equal_splits_are_one_suggestion(self):
    labels = [s.label for s in expert.suggestions(problems.two_chains())]
    self.assertEqual(labels, ['expert layers'])

  def test_nothing_to_split(self):
    allowed = np.array([[1, 0], [0, 1]], bool)
    for problem in (
      problems.chain(4, devices=1),
      problems.chain(1),
      problems.build([], []),
      problems.chain(2, allowed=allowed),
      problems.chain(4, devices=problems.topology(1, gpus=1)),
    ):
      self.assertEmpty(expert.suggestions(problem))


if __name__ == '__main__':
  absltest.main()
