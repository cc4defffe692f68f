import numpy as np
from absl.testing import absltest

from placer.policies import splits
from placer.testing import problems


class SplitsTest(absltest.TestCase):
  def test_layers_are_contiguous_and_balanced(self):
    problem = problems.chain(6, flops=[1e9, 1e9, 1e9, 1e9, 1e9, 5e9])
    split = splits.layer_split(problem, (0, 1))
    np.testing.assert_array_equal(split, [0, 0, 0, 0, 0, 1])

  def test_layers_over_some_devices(self):
    split = splits.layer_split(problems.chain(4, devices=4), (3, 1))
    np.testing.assert_array_equal(split, [3, 3, 1, 1])

  def test_weights_go_with_the_layer_that_reads_them(self):
    # Variables come first in the graph, as they do in a tf.function.
    problem = problems.build(
      ['w_0', 'w_1', 'w_2', 'w_3', 'x', 'a', 'b', 'c', 'd'],
      [(4, 5), (5, 6), (6, 7), (7, 8), (0, 5), (1, 6), (2, 7), (3, 8)],
      flops=[0, 0, 0, 0, 0, 1e9, 1e9, 1e9, 1e9],
    )
    split = splits.layer_split(problem, (0, 1))
    np.testing.assert_array_equal(split, [0, 0, 1, 1, 0, 0, 0, 1, 1])

  def test_branches_are_balanced_longest_first(self):
    # Branches of 5, 3, 2 and 2 units of work: 6 and 6.
    problem = problems.build(
      ['fork', 'a', 'b', 'c', 'd', 'join'],
      [(0, i) for i in range(1, 5)] + [(i, 5) for i in range(1, 5)],
      flops=[1e9, 50e9, 30e9, 20e9, 20e9, 1e9],
      tensor_bytes=1000,
    )
    split = splits.branch_split(problem, (0, 1))
    loads = np.bincount(split[1:5], [5, 3, 2, 2])
    self.assertCountEqual(loads, [5, 7])
    self.assertEqual(split[0], 0)
    self.assertEqual(split[1], 0)
    self.assertEqual(split[5], 0)

  def test_branches_not_worth_sending_stay(self):
    problem = problems.fork_join(flops=1e6, tensor_bytes=10_000_000)
    split = splits.branch_split(problem, (0, 1))
    np.testing.assert_array_equal(split, 0)

  def test_independent_chains_are_branches(self):
    split = splits.branch_split(problems.two_chains(4, flops=1e10), (0, 1))
    np.testing.assert_array_equal(split, [0, 0, 0, 0, 1, 1, 1, 1])

  def test_layer_numbers_within_steps(self):
    names = [
      f'step_{t}/layer_{k}/{op}'
      for t in range(3)
      for k in range(4)
      for op in ('MatMul', 'Tanh')
    ]
    edges = [(i, i + 1) for i in range(len(names) - 1)]
    found = splits.name_splits(problems.build(names, edges), (0, 1))
    self.assertCountEqual(found, ['layer'])
    np.testing.assert_array_equal(found['layer'], [0, 0, 0, 0, 1, 1, 1, 1] * 3)

  def test_ops_without_a_number_follow_their_neighbours(self):
    names = ['x', 'tower_0/a', 'tower_1/a', 'sum', 'gradients/tower_1/a']
    problem = problems.build(names, [(0, 2), (1, 3), (2, 3), (3, 4)])
    found = splits.name_splits(problem, (0, 1))
    np.testing.assert_array_equal(found['tower'], [1, 0, 1, 0, 1])

  def test_numbers_that_cover_little_are_not_layers(self):
    problem = problems.build(
      ['layer_0/a', 'layer_1/a', 'b'],
      [(0, 1), (1, 2)],
      flops=[1e9, 1e9, 9e9],
    )
    self.assertEmpty(splits.name_splits(problem, (0, 1)))

  def test_fast_devices_are_the_accelerators(self):
    gpus = problems.chain(2, devices=problems.topology(1, gpus=2))
    self.assertEqual(splits.fast_devices(gpus), (1, 2))
    self.assertEqual(splits.fast_devices(problems.chain(2)), (0, 1))


if __name__ == '__main__':
  absltest.main()
