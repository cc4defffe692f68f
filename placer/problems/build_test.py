import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized
from tensorflow.core.framework import graph_pb2

from placer.core import device as device_lib
from placer.core import errors
from placer.core import placement_problem
from placer.importers import base
from placer.problems import build
from placer.problems import inspection
from placer.testing import graphs
from placer.testing import placements
from placer.testing import shared_inputs

_CPUS = placements.topology('CPU', 3)
_CPU_AND_GPU = device_lib.DeviceTopology(
  'CPU:0,GPU:0',
  tuple(
    device_lib.Device(f'/job:localhost/replica:0/task:0/device:{kind}:0')
    for kind in ('CPU', 'GPU')
  ),
)


class BuildTest(parameterized.TestCase):
  def _import(self, graph_def: graph_pb2.GraphDef, **options):
    file = self.create_tempfile(content=graph_def.SerializeToString())
    return base.load(file.full_path, base.ImportOptions(**options))

  def _problem(
    self,
    graph_def: graph_pb2.GraphDef,
    devices=_CPUS,
    max_groups: int = 100,
    **options,
  ) -> placement_problem.PlacementProblem:
    imported = self._import(graph_def, **options)
    return build.build(imported, devices, max_groups=max_groups)

  def _together(self, problem, *names: str) -> bool:
    groups = {int(problem.op_group[problem.graph.index[n]]) for n in names}
    return len(groups) == 1

  def test_shapes_bytes_and_flops(self):
    problem = self._problem(graphs.fork_join())
    graph = problem.graph
    op = graph.index['left/MatMul']
    self.assertEqual(graph.output_bytes[op], 8 * 8 * 4)
    self.assertEqual(graph.flops[op], 2 * 8 * 8 * 8)
    self.assertEqual(graph.persistent_bytes[graph.index['weight']], 8 * 8 * 4)

  def test_branches_stay_apart_and_constants_follow(self):
    problem = self._problem(graphs.fork_join(), max_groups=4)
    self.assertFalse(self._together(problem, 'left/MatMul', 'right/MatMul'))
    self.assertTrue(
      self._together(problem, 'weight', 'left/MatMul')
      or self._together(problem, 'weight', 'right/MatMul')
    )

  def test_resources_stay_with_their_readers_and_slots(self):
    problem = self._problem(graphs.training(), max_groups=1000)
    names = problem.graph.names
    weight = [n for n in names if n.startswith('dense/weight')]
    update = next(n for n in names if n.endswith('ResourceApplyAdam'))
    self.assertTrue(self._together(problem, *weight, update))

  def test_class_conflict_is_one_group(self):
    graph_def = graphs.fork_join()
    for node in graph_def.node:
      if node.name == 'right/MatMul':
        node.attr['_class'].list.s.append(b'loc:@left/MatMul')
        node.device = '/device:CPU:1'
    problem = self._problem(graph_def)
    self.assertTrue(self._together(problem, 'left/MatMul', 'right/MatMul'))

  def test_ops_that_were_with_a_pruned_node_stay_together(self):
    def make():
      x = tf.compat.v1.placeholder(tf.float32, [8, 8], name='x')
      gone = tf.exp(x, name='gone')
      for name in ('a', 'b'):
        with tf.compat.v1.colocate_with(gone):
          tf.matmul(x, x, name=name)

    problem = self._problem(graphs.build(make), fetches=('a:0', 'b:0'))
    self.assertNotIn('gone', problem.graph.index)
    self.assertTrue(self._together(problem, 'a', 'b'))

  def test_a_switch_stays_with_its_data(self):
    def make():
      tf.compat.v1.disable_control_flow_v2()
      x = tf.compat.v1.placeholder(tf.float32, [4, 4], name='x')
      y = tf.exp(x, name='y')
      out = tf.compat.v1.cond(
        tf.reduce_sum(x) > 0, lambda: tf.square(y), lambda: tf.abs(y)
      )
      tf.identity(out, name='out')
      tf.compat.v1.enable_control_flow_v2()

    problem = self._problem(graphs.build(make), max_groups=1000)
    switches = [n for n in problem.graph.names if n.endswith('Square/Switch')]
    self.assertLen(switches, 1)
    self.assertTrue(self._together(problem, 'y', *switches))

  def test_what_is_fused_stays_together(self):
    def make():
      x = tf.compat.v1.placeholder(tf.float32, [8, 8], name='x')
      weight = tf.compat.v1.placeholder(tf.float32, [8, 8], name='weight')
      product = tf.matmul(x, weight, name='product')
      biased = tf.nn.bias_add(product, tf.ones(8), name='biased')
      active = tf.nn.relu(biased, name='active')
      tf.exp(active, name='left')
      tf.square(active, name='right')

    problem = self._problem(graphs.build(make), max_groups=1000)
    self.assertTrue(self._together(problem, 'product', 'biased', 'active'))
    self.assertFalse(self._together(problem, 'active', 'left'))

  def test_loops_stay_on_one_device_and_branches_need_not(self):
    problem = self._problem(graphs.v1_loop())
    frame = [n for n in problem.graph.names if n.startswith('while/')]
    self.assertGreater(len(frame), 5)
    self.assertTrue(self._together(problem, *frame))
    problem = self._problem(graphs.functional_loop())
    loop = [n for n in problem.graph.names if '@body/' in n or '@cond/' in n]
    self.assertTrue(self._together(problem, *loop))
    self.assertTrue(any('@then_branch/' in n for n in problem.graph.names))

  def test_tables_queues_and_tensor_arrays_stay_with_their_handle(self):
    def make():
      table = tf.raw_ops.MutableHashTableV2(
        key_dtype=tf.string, value_dtype=tf.int64, name='table'
      )
      tf.raw_ops.LookupTableFindV2(
        table_handle=table,
        keys=['a'],
        default_value=tf.constant(0, tf.int64),
        name='find',
      )
      queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.float32], name='queue')
      tf.raw_ops.QueueEnqueueV2(handle=queue, components=[1.0], name='put')
      array = tf.raw_ops.TensorArrayV3(size=2, dtype=tf.float32, name='array')
      tf.raw_ops.TensorArrayWriteV3(
        handle=array.handle,
        index=0,
        value=1.0,
        flow_in=array.flow,
        name='write',
      )

    problem = self._problem(
      graphs.build(make), max_groups=1000, fetches=('find', 'put', 'write')
    )
    for pair in (('table', 'find'), ('queue', 'put'), ('array', 'write')):
      self.assertTrue(self._together(problem, *pair), pair)

  def test_gradients_have_the_device_of_their_forward_op(self):
    def v1():
      x = tf.compat.v1.placeholder(tf.float32, [4, 4], name='x')
      with tf.device('/cpu:0'):
        y = tf.matmul(x, x, name='first')
      with tf.device('/cpu:1'):
        z = tf.tanh(y, name='second')
      gradient = tf.compat.v1.gradients(z, x)[0]
      tf.identity(gradient, name='out')

    @tf.function(input_signature=[tf.TensorSpec([4, 4], tf.float32)])
    def step(x):
      with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.device('/cpu:0'):
          y = tf.matmul(x, x, name='first')
        with tf.device('/cpu:1'):
          z = tf.tanh(y, name='second')
      return tape.gradient(z, x)

    traced = step.get_concrete_function().graph.as_graph_def()
    for graph_def in (graphs.build(v1), traced):
      problem = self._problem(graph_def, max_groups=1000)
      devices = dict(
        zip(problem.graph.names, problem.graph.original_devices, strict=True)
      )
      for kind, task in (('MatMul', 'CPU:0'), ('TanhGrad', 'CPU:1')):
        found = [
          device
          for name, device in devices.items()
          if problem.graph.types[problem.graph.index[name]] == kind
        ]
        self.assertNotEmpty(found)
        for device in found:
          self.assertIn(task, device.upper())

  def test_host_only_ops_may_not_use_a_gpu(self):
    def make():
      text = tf.constant(['a b', 'c'], name='text')
      joined = tf.raw_ops.StringJoin(inputs=[text, text], name='joined')
      length = tf.raw_ops.StringLength(input=joined[0], name='length')
      x = tf.compat.v1.placeholder(tf.float32, [8, 8], name='x')
      y = tf.matmul(x, x, name='product')
      tf.add(y, tf.cast(length, tf.float32), name='out')

    problem = self._problem(graphs.build(make), _CPU_AND_GPU)
    group = problem.op_group[problem.graph.index['joined']]
    np.testing.assert_array_equal(problem.allowed[group], [True, False])
    self.assertRegex(problem.fixed_reasons[int(group)], 'GPU')
    group = problem.op_group[problem.graph.index['product']]
    np.testing.assert_array_equal(problem.allowed[group], [True, True])

  def test_integer_inputs_stay_in_host_memory(self):
    def make():
      index = tf.compat.v1.placeholder(tf.int32, [2], name='index')
      table = tf.compat.v1.placeholder(tf.float32, [8, 8], name='table')
      tf.gather(table, index, name='rows')

    problem = self._problem(graphs.build(make), _CPU_AND_GPU, max_groups=1000)
    for name, on_gpu in (('index', False), ('table', True)):
      group = problem.op_group[problem.graph.index[name]]
      self.assertEqual(bool(problem.allowed[group, 1]), on_gpu)

  def test_an_op_without_any_kernel_says_which(self):
    def make():
      x = tf.compat.v1.placeholder(tf.float32, [2], name='x')
      tf.raw_ops.TPUReplicatedInput(inputs=[x], name='tpu')

    with self.assertRaisesRegex(
      errors.NoFeasiblePlacementError, 'tpu.*TPUReplicatedInput'
    ):
      self._problem(graphs.build(make))

  @parameterized.parameters(1, 2, 5)
  def test_max_groups_is_kept(self, max_groups: int):
    problem = self._problem(graphs.training(), max_groups=max_groups)
    self.assertLessEqual(problem.num_groups, max_groups)

  def test_unknown_dimensions_are_said(self):
    def make():
      x = tf.compat.v1.placeholder(tf.float32, [4], name='x')
      tf.identity(tf.raw_ops.Where(condition=x > 0), name='y')

    problem = self._problem(graphs.build(make))
    self.assertRegex(' '.join(problem.notes), 'only a run can tell')

  def test_the_graphs_of_others(self):
    folder = shared_inputs.graphs()
    for name in ('mtcnn.pb', 'unrolled_lstm.pb', 'taxi_estimator_train.meta'):
      with self.subTest(name):
        imported = base.load(folder / name)
        problem = build.build(imported, _CPU_AND_GPU)
        order = np.arange(len(problem.graph))
        forward = ~problem.graph.edge_is_back
        self.assertTrue(
          np.all(
            order[problem.graph.edge_source[forward]]
            < order[problem.graph.edge_target[forward]]
          )
        )
        self.assertTrue(problem.allowed[:, 0].all())

  def test_inspection_of_what_runs_nowhere(self):
    folder = shared_inputs.graphs()
    imported = base.load(folder / 'graphdef2mlir' / 'graph-function-defs.pbtxt')
    found = inspection.inspect(imported)
    self.assertNotEmpty(found.unsupported)
    self.assertRegex(found.unsupported[0], 'no CPU kernel.*no GPU kernel')


if __name__ == '__main__':
  absltest.main()
