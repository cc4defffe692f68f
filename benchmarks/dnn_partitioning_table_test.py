import dataclasses
import itertools

import hypothesis
import numpy as np
from absl.testing import absltest
from hypothesis import strategies as st

from benchmarks import dnn_partitioning_table
from placer.importers import cost_graph
from placer.importers import cost_graph_file
from placer.problems import cost_graph_problem
from placer.simulation import simulator
from placer.testing import shared_inputs


def _chain(count, seed, accelerators=2, limit=300, **changes):
  """`count` ops in a row of random times and sizes."""
  rng = np.random.default_rng(seed)
  found = cost_graph.CostGraph(
    source='f.json',
    kind='dnn_partitioning',
    graph=cost_graph.make_graph(
      [f'op_{i}' for i in range(count)],
      ['Node'] * count,
      [(i, 10) for i in range(count)],
      [(i, i + 1, i) for i in range(count - 1)],
      rng.integers(1, 120, count).tolist(),
    ),
    accelerator_seconds=rng.uniform(1e-3, 9e-3, count),
    cpu_seconds=np.full(count, 1.0),
    on_accelerator=np.ones(count, bool),
    colour=np.arange(count, dtype=np.int32),
    keeps_outputs=True,
    own=cost_graph.OwnDevices(
      accelerators, limit, 1, rng.uniform(1e-3, 9e-3, count)
    ),
  )
  found = dataclasses.replace(found, **changes)
  devices = cost_graph_problem.own_devices(found, 'auto')
  return cost_graph_problem.build(found, devices)


class ContiguousTest(absltest.TestCase):
  @hypothesis.given(
    count=st.integers(1, 7),
    accelerators=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
  )
  @hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
  def test_of_a_chain_no_split_in_a_row_is_faster(
    self, count, accelerators, seed
  ):
    problem = _chain(count, seed, accelerators)
    splits = [
      np.array(parts, np.int32)
      for parts in itertools.product(
        range(accelerators), repeat=problem.num_groups
      )
      if list(parts) == sorted(parts)
    ]
    batch = simulator.simulate(problem, problem.costs, np.stack(splits))
    found = dnn_partitioning_table.contiguous(problem)
    if not batch.feasible.any():
      self.assertIsNone(found)
      return
    problem.check(found)
    step = simulator.simulate(problem, problem.costs, found[np.newaxis])
    self.assertAlmostEqual(
      step.step_time_seconds[0], np.nanmin(batch.step_time_seconds)
    )

  def test_what_no_accelerator_runs_is_on_the_cpu(self):
    problem = _chain(
      4, 0, limit=10_000, on_accelerator=np.array([True, True, False, True])
    )
    found = dnn_partitioning_table.contiguous(problem)
    problem.check(found)
    by_op = found[problem.op_group]
    self.assertEqual(by_op[2], 2)
    self.assertLen(set(by_op[[0, 1, 3]].tolist()), 1)

  def test_a_line_of_a_real_workload(self):
    folder = shared_inputs.workloads() / 'dnn_partitioning'
    graph = cost_graph_file.read(folder / 'LayerGraphs_bert24_inference.json')
    devices = cost_graph_problem.own_devices(graph, 'auto')
    problem = cost_graph_problem.build(graph, devices)
    self.assertIsNotNone(dnn_partitioning_table.contiguous(problem))


if __name__ == '__main__':
  absltest.main()
