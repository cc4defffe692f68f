import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.testing import problems


def _problem(types=None, **changes):
  problem = problems.chain(
    4, devices=problems.topology(2, linked=True), tensor_bytes=10
  )
  if types:
    changes['types'] = types
  graph = dataclasses.replace(problem.graph, **changes)
  return dataclasses.replace(problem, graph=graph)


class CostModelTest(absltest.TestCase):
  def test_defaults(self):
    problem = _problem()
    costs = cost_model.build(problem.graph, problem.devices, [1, 2, 3, 4])
    np.testing.assert_array_equal(
      costs.op_seconds, [[1, 1], [2, 2], [3, 3], [4, 4]]
    )
    np.testing.assert_array_equal(costs.resident_bytes, [10] * 4)
    np.testing.assert_array_equal(costs.memory_bytes, [cost_model.NO_LIMIT] * 2)
    self.assertIs(costs.host_links, costs.links)
    self.assertEqual(costs.num_devices, 2)

  def test_costs_of_each_device(self):
    problem = _problem()
    seconds = np.arange(8.0).reshape(4, 2)
    costs = cost_model.build(problem.graph, problem.devices, seconds)
    np.testing.assert_array_equal(costs.op_seconds, seconds)

  def test_shared_buffers_take_no_memory(self):
    problem = _problem(
      ('Const', 'Identity', 'Reshape', 'MatMul'),
      persistent_bytes=np.array([10, 0, 0, 0]),
    )
    costs = cost_model.build(problem.graph, problem.devices, np.ones(4))
    np.testing.assert_array_equal(costs.shares_tensor, [-1, 0, 1, -1])
    np.testing.assert_array_equal(costs.resident_bytes, [0, 0, 0, 10])

  def test_a_buffer_is_that_of_the_first_data_input(self):
    problem = problems.build(list('abc'), [(0, 2), (1, 2)])
    graph = dataclasses.replace(
      problem.graph,
      types=('MatMul', 'MatMul', 'Identity'),
      edge_tensor=np.array([-1, 1], np.int32),
    )
    np.testing.assert_array_equal(cost_model.sharing(graph), [-1, -1, 1])

  def test_sends(self):
    # 0 -> 1 -> 2 -> 3; ops 1 and 2 are in a loop.
    runs = np.array([1, 5, 5, 1])
    np.testing.assert_array_equal(
      cost_model.sends(_problem().graph, runs), [1, 5, 1, 1]
    )

  def test_scaled(self):
    problem = _problem()
    costs = cost_model.build(
      problem.graph, problem.devices, np.ones(4), gap_seconds=0.5
    )
    found = costs.scaled([2.0, 3.0], 4.0)
    np.testing.assert_array_equal(found.op_seconds[0], [2, 3])
    np.testing.assert_array_equal(found.gap_seconds[0], [1, 1.5])
    self.assertEqual(found.links.latency_seconds[0, 1], 0.0024)
    self.assertEqual(costs.op_seconds[0, 0], 1)

  def test_invariants(self):
    problem = _problem()
    costs = cost_model.build(problem.graph, problem.devices, np.ones(4))
    for changes, message in (
      ({'op_seconds': np.full((4, 2), np.nan)}, 'op_seconds has the value nan'),
      ({'gap_seconds': np.zeros(4)}, 'gap_seconds has shape'),
      ({'op_runs': np.zeros(4, int)}, 'op_runs must be at least 1'),
      ({'concurrency': np.zeros(2, int)}, 'concurrency must be at least 1'),
      ({'slice_seconds': np.zeros(2)}, 'slice_seconds must be positive'),
      ({'shares_tensor': np.full(4, 7)}, 'index of a tensor, or -1'),
      ({'shares_tensor': np.array([-1, 0, -1, -1])}, 'no resident_bytes'),
      ({'memory_bytes': np.zeros(3, int)}, 'memory_bytes has shape'),
    ):
      with self.assertRaisesRegex(ValueError, message):
        dataclasses.replace(costs, **changes)
    with self.assertRaisesRegex(ValueError, 'links is for 1 devices'):
      one = cost_model.build(
        problem.graph, problems.topology(1), np.ones(4)
      ).links
      dataclasses.replace(costs, links=one)


if __name__ == '__main__':
  absltest.main()
