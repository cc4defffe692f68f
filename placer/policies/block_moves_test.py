import hypothesis
import numpy as np
from absl.testing import absltest

from placer.policies import block_graph
from placer.policies import block_moves
from placer.policies import estimate
from placer.testing import problems
from placer.testing import strategies


class BlockMovesTest(absltest.TestCase):
  @hypothesis.given(problem=strategies.problems())
  @hypothesis.settings(max_examples=40, deadline=None, derandomize=True)
  def test_moves_are_legal_and_change_nothing_given(self, problem):
    blocks = block_graph.build(problem, chains=False)
    hypothesis.assume(len(blocks))
    rng = np.random.default_rng(0)
    devices = blocks.allowed.argmax(axis=1).astype(np.int32)
    for _ in range(30):
      before = devices.copy()
      moved = block_moves.move(blocks, devices, rng)
      np.testing.assert_array_equal(devices, before)
      self.assertTrue(blocks.allowed[np.arange(len(blocks)), moved].all())
      self.assertEqual(moved.dtype, np.int32)
      devices = moved

  def test_moves_reach_every_state(self):
    blocks = block_graph.build(problems.modules(1, width=2, length=1))
    rng = np.random.default_rng(0)
    devices, seen = np.zeros(4, np.int32), set()
    for _ in range(500):
      devices = block_moves.move(blocks, devices, rng)
      seen.add(devices.tobytes())
    self.assertLen(seen, 2**4)

  def test_annealing_finds_the_best_of_all_states(self):
    problem = problems.modules(2, width=2, length=1, flops=1e10)
    blocks = block_graph.build(problem)
    schedule = estimate.Schedule(problem, block_of_group=blocks.block_of_group)
    self.assertLen(blocks, 7)
    states = np.indices((2,) * 7).reshape(7, -1).T
    best = min(schedule.makespan(state) for state in states)
    found = block_moves.anneal(
      blocks,
      schedule.makespan,
      np.zeros(7, np.int32),
      np.random.default_rng(0),
      evaluations=600,
      temperature=0.05,
    )
    self.assertAlmostEqual(found[0].score, best)
    scores = [visited.score for visited in found]
    self.assertEqual(scores, sorted(scores))
    self.assertLen({v.devices.tobytes() for v in found}, len(found))


if __name__ == '__main__':
  absltest.main()
