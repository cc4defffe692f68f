"""A placement for `local:2` in a process that is connected to such a cluster.

The workers obey anyone who reaches them, so they and the process live in a
network namespace of their own, where any port is free.
"""

import json
import os
import subprocess
import sys

from absl.testing import absltest

_WORKER = """
import json, sys
import tensorflow as tf
tf.distribute.Server(
    tf.train.ClusterSpec(json.loads(sys.argv[1])), job_name='worker',
    task_index=int(sys.argv[2]),
    config=tf.compat.v1.ConfigProto(inter_op_parallelism_threads=4)).join()
"""
_MAIN = """
import json, subprocess, sys
from placer.measurers.processes import isolation
isolation.enter_network_namespace()
cluster = {'worker': ['localhost:2001', 'localhost:2002']}
command = [sys.executable, '-c', sys.argv[1], json.dumps(cluster)]
workers = [subprocess.Popen([*command, number]) for number in '01']
try:
  import tensorflow as tf
  import placer
  started = tf.constant(1.0) + 1.0
  tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(cluster))
  names = [f'/job:worker/replica:0/task:{i}/device:CPU:0' for i in range(2)]
  w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

  def function(x):
    return tf.tanh(tf.matmul(x, w)) + tf.exp(x)

  placement = placer.Placement(
      {'MatMul': names[0], 'Tanh': names[0], 'Exp': names[1],
       'add': names[1], 'Identity': names[1]}, devices_spec='local:2')
  placed = placer.apply_placement(function, placement)
  x = tf.constant([[0.1, 0.2]])
  ran = placer.run_and_read_back(placed, x)
  print(json.dumps({
      'expected': function(x).numpy().tolist(),
      'found': placed(x).numpy().tolist(),
      'actual': dict(ran.actual)}))
finally:
  for worker in workers:
    worker.kill()
"""


class ClusterTest(absltest.TestCase):
  def test_it_runs_on_the_workers(self):
    search = os.pathsep.join(os.path.abspath(p or '.') for p in sys.path)
    done = subprocess.run(
      [sys.executable, '-c', _MAIN, _WORKER],
      env=os.environ
      | {
        'PYTHONPATH': search,
        'TF_CPP_MIN_LOG_LEVEL': '3',
        'OPENBLAS_NUM_THREADS': '1',  # a namespace is entered by one thread
        'GRPC_ENABLE_FORK_SUPPORT': '0',
      },
      capture_output=True,
      text=True,
      check=False,
    )
    if 'unshare' in done.stderr:
      self.skipTest('This kernel forbids network namespaces.')
    self.assertEqual(done.returncode, 0, done.stderr)
    result = json.loads(done.stdout.splitlines()[-1])
    self.assertEqual(result['expected'], result['found'])
    for task, op in enumerate(('MatMul', 'Exp')):
      self.assertEqual(
        result['actual'][op], f'/job:worker/replica:0/task:{task}/device:CPU:0'
      )


if __name__ == '__main__':
  absltest.main()
