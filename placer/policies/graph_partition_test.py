import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import graph_partition
from placer.policies import planning_model
from placer.testing import problems


def _graph(problem, seconds):
  costs = cost_model.build(problem.graph, problem.devices, seconds)
  return graph_partition.build(
    planning_model.PlanningModel(dataclasses.replace(problem, costs=costs))
  )


class GraphPartitionTest(absltest.TestCase):
  def test_weights_are_seconds_and_bytes(self):
    problem = problems.chain(
      3,
      tensor_bytes=[2_000_000, 1_000_000, 0],
      devices=problems.topology(2, linked=True),
    )
    graph = _graph(problem, np.array([[1.0, 2], [4, 8], [0, 0]]))
    np.testing.assert_array_equal(graph.first, [0, 1, 3, 4])
    np.testing.assert_array_equal(graph.neighbours, [1, 0, 2, 1])
    np.testing.assert_array_equal(
      graph.edge_weights, [100_000, 100_000, 50_000, 50_000]
    )
    np.testing.assert_array_equal(graph.vertex_weights, [25_000, 100_000, 1])
    np.testing.assert_allclose(graph.device_weights, [2 / 3, 1 / 3])

  def test_groups_that_feed_each_other_have_one_edge(self):
    problem = problems.chain(
      4, op_group=[0, 1, 0, 1], devices=problems.topology(2, linked=True)
    )
    graph = _graph(problem, np.ones(4))
    np.testing.assert_array_equal(graph.neighbours, [1, 0])


if __name__ == '__main__':
  absltest.main()
