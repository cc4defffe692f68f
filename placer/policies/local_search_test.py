import numpy as np
from absl.testing import absltest

from placer.policies import group_moves
from placer.policies import local_search
from placer.testing import problems


def _search(scores, groups=30, devices=2, seed=0, **config):
  problem = problems.chain(groups, devices=devices)
  return local_search.search(
    scores,
    group_moves.GroupMoves(problem, problem.allowed),
    [np.zeros(groups, np.int32)],
    problem.allowed,
    np.random.default_rng(seed),
    local_search.LocalSearchConfig(**config),
  )


def _cuts(candidates):
  """Balance first, then as few cuts as may be: half and half in a row."""
  uneven = np.abs(candidates.mean(axis=1) - 0.5)
  cuts = (np.diff(candidates, axis=1) != 0).sum(axis=1)
  return 1 + 10 * uneven + 0.05 * cuts


class LocalSearchTest(absltest.TestCase):
  def test_finds_the_best_cut(self):
    found = _search(_cuts, evaluations=4000)
    scores = _cuts(np.stack(found))
    self.assertAlmostEqual(scores[0], 1.05)
    self.assertTrue((np.diff(scores) >= 0).all())
    self.assertLen({row.tobytes() for row in found}, len(found))

  def test_keeps_to_its_evaluations(self):
    seen = []

    def scores(candidates):
      seen.append(len(candidates))
      return _cuts(candidates)

    _search(scores, evaluations=1000)
    # Those of the chains that go on from the best are scored once more.
    self.assertBetween(sum(seen), 900, 1050)

  def test_equal_seeds_find_the_same(self):
    one, other = (_search(_cuts, evaluations=500, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one, other)

  def test_few_states_are_all_tried(self):
    found = _search(_cuts, groups=6, kept=64)
    self.assertLen(found, 64)
    np.testing.assert_allclose(_cuts(found[0][np.newaxis]), 1.05)

  def test_goes_on_where_nothing_runs(self):
    found = _search(lambda c: np.full(len(c), np.inf), evaluations=200)
    self.assertNotEmpty(found)

  def test_stops_when_time_is_over(self):
    found = _search(_cuts, evaluations=10**9, seconds=0.1)
    self.assertNotEmpty(found)


if __name__ == '__main__':
  absltest.main()
