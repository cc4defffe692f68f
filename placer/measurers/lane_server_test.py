"""Profiles and traces of real steps, in this process.

Nothing depends on how long anything takes.
"""

import os

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import placement_problem
from placer.core import program as program_lib
from placer.devices import layout as layout_lib
from placer.importers import base
from placer.measurers import feeds
from placer.measurers import lane_server
from placer.measurers import step_timeline
from placer.problems import build
from placer.problems import profiled_costs
from placer.testing import graphs
from placer.testing import problems

_CPU = '/job:localhost/replica:0/task:0/device:CPU:0'


def _fused_and_removed() -> None:
  """Grappler fuses the matmul with its bias and drops the identity."""
  x = tf.compat.v1.placeholder(tf.float32, [8, 16], name='x')
  weight = tf.constant(np.full((16, 4), 0.5, np.float32), name='weight')
  bias = tf.constant(np.full(4, 0.5, np.float32), name='bias')
  y = tf.nn.bias_add(tf.matmul(x, weight, name='mul'), bias, name='add')
  y = tf.identity(tf.nn.relu(y, name='relu'), name='same')
  tf.exp(y, name='out')


class LaneServerTest(parameterized.TestCase):
  def _imported(
    self, graph_def: tf.compat.v1.GraphDef, **options
  ) -> tuple[program_lib.Program, placement_problem.PlacementProblem]:
    path = self.create_tempfile(
      'graph.pb', content=graph_def.SerializeToString(), mode='wb'
    ).full_path
    imported = base.load(path, base.ImportOptions(**options))
    return imported.program, build.build(imported, problems.topology(2))

  def _server(self, program, problem) -> lane_server.LaneServer:
    server = lane_server.LaneServer(
      layout_lib.ProcessLayout(host_cores=tuple(os.sched_getaffinity(0))),
      '',
      lambda phase: None,
      sequential=True,
    )
    self.addCleanup(server.unload)
    server.set_program(program, feeds.make(program.feeds, 0), 0)
    server.set_problem(
      tuple(map(program.working_name, problem.graph.names)),
      problem.op_group,
      [_CPU] * 2,
    )
    return server

  def _profile(self, graph_def, **options):
    program, problem = self._imported(graph_def, **options)
    server = self._server(program, problem)
    profile = server.profile(problem.graph.tensor_source, _CPU, seconds=0.0)
    return problem, profile

  def test_the_corrected_ops_add_up_to_the_step(self):
    for graph_def in (graphs.fork_join(), graphs.v1_loop()):
      problem, profile = self._profile(graph_def)
      self.assertLen(profile.op_seconds, len(problem.graph))
      self.assertTrue(profile.is_run.any())
      corrected = profiled_costs.without_tracing(profile)
      self.assertTrue((corrected >= 0).all())
      np.testing.assert_allclose(corrected.sum(), profile.step_seconds)

  def test_what_ran_has_its_time_and_its_memory(self):
    problem, profile = self._profile(graphs.fork_join())
    for name in ('left/MatMul', 'right/MatMul', 'sum'):
      op = problem.graph.index[name]
      self.assertGreater(profile.op_seconds[op], 0.0)
      self.assertEqual(profile.op_runs[op], 1)
      (tensor,) = np.flatnonzero(problem.graph.tensor_source == op)
      # Eight by eight floats, and what the allocator rounds up to.
      self.assertBetween(profile.tensor_bytes[tensor], 256, 1024)

  def test_fused_ops_count_for_the_name_that_is_left(self):
    problem, profile = self._profile(graphs.build(_fused_and_removed))
    index = problem.graph.index
    run = {name for name, op in index.items() if profile.is_run[op]}
    self.assertIn('out', run)
    self.assertNotIn('same', run)
    # Whichever name the fused kernel has, one is left of the three.
    fused = run & {'mul', 'add', 'relu'}
    self.assertLen(fused, 1)
    self.assertGreater(profile.op_seconds[index[fused.pop()]], 0.0)

  @parameterized.parameters(
    (graphs.v1_loop, 'MatMul'), (graphs.functional_loop, 'step')
  )
  def test_a_loops_ops_count_their_runs(self, make, name):
    problem, profile = self._profile(make())
    runs = {
      path: profile.op_runs[op]
      for path, op in problem.graph.index.items()
      if path.rpartition('/')[2] == name
    }
    self.assertEqual(set(runs.values()), {3}, runs)

  def test_variables_and_gradients(self):
    problem, profile = self._profile(
      graphs.training(), fetches=('loss', 'train')
    )
    moved = problem.graph.index['dense/weight']
    self.assertEqual(profile.op_seconds[moved] >= 0, True)
    self.assertGreater(profile.is_run.sum(), 5)

  def test_a_profile_becomes_costs(self):
    problem, profile = self._profile(graphs.fork_join())
    made = profiled_costs.build(problem.graph, problem.devices, {0: profile})
    seconds = made.op_seconds * made.op_runs[:, np.newaxis]
    np.testing.assert_allclose(seconds[:, 0].sum(), profile.step_seconds)

  def test_traces_of_placed_steps(self):
    program, problem = self._imported(graphs.fork_join())
    server = self._server(program, problem)
    server.load(np.zeros(problem.num_groups, np.int32), 1)
    traces = server.trace(2)
    self.assertLen(traces, 2)
    for trace in traces:
      step = step_timeline.read(trace, [_CPU])
      names = [op.name for op in step.ops]
      for name in ('left/MatMul', 'right/MatMul', 'sum'):
        self.assertEqual(names.count(name), 1)
      spans = {op.name: op for op in step.ops}
      # What is read ends before its reader begins.
      for name in ('left/MatMul', 'right/MatMul'):
        self.assertLessEqual(
          spans[name].end_seconds, spans['sum'].start_seconds
        )
      self.assertEndsWith(spans['left/MatMul'].type, 'MatMul')
      self.assertEmpty(step.transfers)


if __name__ == '__main__':
  absltest.main()
