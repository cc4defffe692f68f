import hypothesis
import numpy as np
from absl.testing import absltest

from placer.policies import block_graph
from placer.testing import problems
from placer.testing import strategies


class BlockGraphTest(absltest.TestCase):
  def test_modules_become_trunk_and_branches(self):
    blocks = block_graph.build(problems.modules(2, width=3, length=4))
    self.assertEqual(
      [len(branches) for branches in blocks.segments], [1, 3, 1, 3, 1]
    )
    self.assertLen(blocks, 1 + 3 + 1 + 3 + 1)

  def test_without_chains_each_op_is_a_block(self):
    problem = problems.modules(2)
    self.assertLen(block_graph.build(problem, chains=False), problem.num_groups)

  def test_a_chain_is_one_block(self):
    blocks = block_graph.build(problems.chain(9))
    self.assertLen(blocks, 1)
    self.assertEqual(blocks.segments, (((0,),),))

  def test_chains_that_never_meet_are_branches(self):
    blocks = block_graph.build(problems.two_chains())
    self.assertEqual(blocks.segments, (((0,), (1,)),))

  def test_sources_go_with_their_first_reader(self):
    # The small constant that both branches read doesn't order them.
    problem = problems.build(
      ['constant', 'x', 'a', 'b', 'join'],
      [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4)],
      flops=[0, 1e9, 1e9, 1e9, 1e9],
      tensor_bytes=[4, 10**6, 10**6, 10**6, 10**6],
    )
    blocks = block_graph.build(problem)
    self.assertEqual(blocks.block_of_group[0], blocks.block_of_group[2])
    self.assertEqual([len(part) for part in blocks.segments], [1, 2, 1])

  def test_readers_of_shared_weights_stay_together(self):
    # Two layers, three steps; the weights take 0.1 s to send.
    names = ['w_0', 'w_1', 'x']
    edges = []
    state = [2, 2]
    for _ in range(3):
      for layer in range(2):
        names.append(f'cell_{layer}')
        new = len(names) - 1
        edges += [(layer, new), (state[layer], new)]
        if layer:
          edges.append((state[0], new))
        state[layer] = new
    problem = problems.build(
      names,
      sorted(set(edges)),
      flops=[0, 0] + [1e8] * 7,
      tensor_bytes=[10**8, 10**8] + [1000] * 7,
    )
    blocks = block_graph.build(problem, chains=False)
    of_group = blocks.block_of_group
    self.assertLen(set(of_group[[0, 3, 5, 7]].tolist()), 1)
    self.assertLen(set(of_group[[1, 4, 6, 8]].tolist()), 1)
    self.assertNotEqual(of_group[3], of_group[4])

  def test_an_end_that_only_waits_joins_nothing(self):
    problem = problems.modules(1, width=2, length=1)
    graph = problem.graph
    self.assertLen(graph, 4)
    gathered = problems.build(
      [*graph.names, 'gather'],
      [
        *zip(graph.edge_source.tolist(), graph.edge_target.tolist()),
        (0, 4),
        (3, 4),
      ],
      flops=[1e9] * 4 + [0],
      tensor_bytes=[0] * 5,
    )
    blocks = block_graph.build(gathered)
    self.assertEqual([len(part) for part in blocks.segments], [1, 2, 1])

  def test_candidates_are_legal_and_follow_the_blocks(self):
    allowed = np.ones((3, 2), bool)
    allowed[1, 1] = False
    problem = problems.chain(3, allowed=allowed, flops=[1e9, 1e9, 9e9])
    blocks = block_graph.build(problem)
    self.assertLen(blocks, 1)
    candidate = blocks.candidate(np.array([1]))
    np.testing.assert_array_equal(candidate, [1, 0, 1])
    self.assertEqual(candidate.dtype, np.int32)
    np.testing.assert_array_equal(blocks.devices(candidate), [1])

  @hypothesis.given(problem=strategies.problems())
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_whatever_the_problem(self, problem):
    blocks = block_graph.build(problem)
    self.assertEqual(
      set(blocks.block_of_group.tolist()), set(range(len(blocks)))
    )
    self.assertTrue((blocks.source < blocks.target).all())
    self.assertTrue(blocks.allowed.any(axis=1).all())
    members = [b for s in blocks.segments for part in s for b in part]
    self.assertCountEqual(members, range(len(blocks)))
    first = blocks.allowed.argmax(axis=1)
    candidate = blocks.candidate(first)
    problem.check(candidate)
    hypothesis.assume(len(blocks))
    self.assertEqual(blocks.devices(candidate).shape, (len(blocks),))


if __name__ == '__main__':
  absltest.main()
