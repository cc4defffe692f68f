import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.policies import list_planner
from placer.policies import planning_model
from placer.policies.heuristics import heft
from placer.testing import problems


class HeftTest(absltest.TestCase):
  def test_the_paper_s_example(self):
    # Topcuoglu et al. 2002, figure 2: ten tasks, three processors, 80 long.
    times = [
      [14, 16, 9],
      [13, 19, 18],
      [11, 13, 19],
      [13, 8, 17],
      [12, 13, 10],
      [13, 16, 9],
      [7, 15, 11],
      [5, 11, 14],
      [18, 12, 20],
      [21, 7, 16],
    ]
    edges = {
      (0, 1): 18,
      (0, 2): 12,
      (0, 3): 9,
      (0, 4): 11,
      (0, 5): 14,
      (1, 7): 19,
      (1, 8): 16,
      (2, 6): 23,
      (3, 7): 27,
      (3, 8): 23,
      (4, 8): 13,
      (5, 7): 15,
      (6, 9): 17,
      (7, 9): 11,
      (8, 9): 13,
    }
    problem = problems.build(
      [f'task_{i}' for i in range(10)], list(edges), devices=3
    )
    graph = dataclasses.replace(
      problem.graph,
      tensor_source=np.array([source for source, _ in edges], np.int32),
      tensor_bytes=np.array(list(edges.values())),
      tensor_shape_known=np.ones(15, bool),
      edge_tensor=np.arange(15, dtype=np.int32),
    )
    devices = problems.topology(3, linked=True)
    devices = dataclasses.replace(
      devices,
      links=tuple(
        dataclasses.replace(link, latency_seconds=0, bytes_per_second=1)
        for link in devices.links
      ),
    )
    costs = cost_model.build(graph, devices, np.array(times, float))
    problem = dataclasses.replace(
      problem, graph=graph, devices=devices, costs=costs
    )
    model = planning_model.PlanningModel(problem)
    np.testing.assert_allclose(
      list_planner.upward_ranks(model.graph),
      [108, 77, 80, 80, 69, 63.333, 42.667, 35.667, 44.333, 14.667],
      atol=1e-3,
    )
    (found,) = heft.Heft(problem).suggest(1)
    # The paper's schedule is 80 long; there, the transfers from task 0 to one
    # processor all go at once, here one after the other.
    np.testing.assert_array_equal(
      found.candidate, [2, 0, 2, 1, 2, 2, 0, 0, 1, 1]
    )

  def test_a_group_goes_where_all_of_it_is_fast(self):
    # A variable is read for free on any device, but its update is not.
    devices = problems.topology(2, linked=True)
    problem = problems.build(
      ['variable', 'input', 'update'],
      [(0, 2), (1, 2)],
      op_group=[0, 1, 0],
      devices=devices,
    )
    seconds = np.array([[0, 0], [0, 0], [9, 1]])
    costs = cost_model.build(problem.graph, devices, seconds)
    (found,) = heft.Heft(dataclasses.replace(problem, costs=costs)).suggest(1)
    self.assertEqual(found.candidate[0], 1)


if __name__ == '__main__':
  absltest.main()
