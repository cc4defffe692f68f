"""Candidates that fail, each in its way, and what comes after them."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
from absl.testing import absltest

from placer.core import measurement
from placer.devices import target
from placer.measurers import session_measurer
from placer.measurers import session_options
from placer.measurers import toy_programs
from placer.measurers.processes import lane

_Status = measurement.Status
_PARENT = """
import time
import numpy as np
from placer.devices import target
from placer.measurers import session_measurer, toy_programs
toy, topology = toy_programs.matmuls(), target.resolve('local:2')
measurer = session_measurer.SessionMeasurer(toy.program, topology)
problem = toy_programs.problem(toy, topology)
measurer.measure(problem, np.array([[0, 1]]), steps=1)
print('measured', flush=True)
time.sleep(100)
"""


def _children(pid: int) -> list[int]:
  """All processes below `pid`."""
  tree: dict[int, list[int]] = {}
  for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
    try:
      fields = path.read_text().rpartition(')')[2].split()
    except OSError:
      continue
    if fields[0] != 'Z':
      tree.setdefault(int(fields[1]), []).append(int(path.parent.name))
  found, stack = [], [pid]
  while stack:
    below = tree.get(stack.pop(), [])
    found += below
    stack += below
  return found


class FailuresTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    if len(os.sched_getaffinity(0)) < 2:
      self.skipTest('local:2 needs two cores.')

  def _open(self, toy, memory_limit='', spec='local:2', **options):
    topology = target.resolve(spec, memory_limit=memory_limit)
    defaults = {'steps': 2, 'warm_up_steps': 1, 'step_timeout_seconds': 30.0}
    measurer = session_measurer.SessionMeasurer(
      toy.program,
      topology,
      session_options.SessionOptions(**(defaults | options)),
    )
    self.addCleanup(measurer.close)
    return measurer, toy_programs.problem(toy, topology)

  def _one(self, toy, candidate, **options):
    measurer, problem = self._open(toy, **options)
    return measurer.measure(problem, np.array([candidate]))[0]

  def test_no_kernel(self):
    result = self._one(toy_programs.no_kernel(), [0, 1])
    self.assertIs(result.status, _Status.UNSUPPORTED_OP)
    self.assertEqual(result.details['op'], 'b/nccl')
    self.assertIn('NcclAllReduce', result.reason)

  def test_a_kernel_that_refuses_its_format(self):
    result = self._one(toy_programs.channels_first(), [0, 1], spec='logical:2')
    self.assertIs(result.status, _Status.UNSUPPORTED_OP)
    self.assertEqual(result.details['op'], 'b/space')

  def test_what_must_be_together_may_not_be_apart(self):
    result = self._one(toy_programs.colocated(), [0, 1], spec='logical:2')
    self.assertIs(result.status, _Status.INVALID_PLACEMENT)
    self.assertIn("'b/with'", result.reason)

  def test_an_endless_step_is_a_timeout_and_the_next_runs(self):
    toy = toy_programs.endless()
    measurer, problem = self._open(
      toy, step_timeout_seconds=1.0, setup_timeout_seconds=3.0
    )
    one, two = measurer.measure(problem, np.array([[0, 0], [0, 1]]))
    for result in (one, two):
      self.assertIs(result.status, _Status.TIMEOUT)
      self.assertIn('did not end within', result.reason)

  def test_out_of_memory_names_the_device(self):
    # Takes 20 s: TensorFlow waits for memory before it gives up.
    toy = toy_programs.big_tensor(200)
    measurer, problem = self._open(
      toy, memory_limit='/job:worker/task:1=100MiB'
    )
    out, fine = measurer.measure(
      problem, np.array([[0, 1], [0, 0]]), reference=np.array([0, 1])
    )
    self.assertIs(out.status, _Status.OUT_OF_MEMORY)
    self.assertEqual(out.details['device'], measurer.topology.names[1])
    self.assertIn('task:1', out.reason)
    self.assertTrue(fine.ok, fine.reason)
    # That the reference fails is not the candidate's fault.
    self.assertIn('task:1', fine.details['reference_failure'])
    self.assertEmpty(fine.reference_times_seconds)
    # 200 MiB, a sorted copy, and what rounding wastes.
    self.assertBetween(
      fine.peak_memory_bytes[measurer.topology.names[0]], 200 << 20, 900 << 20
    )

  def test_limits_that_the_runtime_does_not_enforce(self):
    result = self._one(
      toy_programs.big_tensor(40),
      [0, 1],
      spec='logical:2',
      memory_limit='CPU:1=10MiB',
    )
    self.assertIs(result.status, _Status.OUT_OF_MEMORY)
    self.assertIn('device:CPU:1', result.details['device'])

  def test_a_killed_worker_costs_one_candidate(self):
    measurer, problem = self._open(toy_programs.matmuls(), steps=3000)
    self._kill_later(lambda: _children(measurer.lane_pid('candidate'))[-1])
    pair = np.array([[0, 1]])
    reference = np.array([0, 0])
    (lost,) = measurer.measure(problem, pair, reference=reference)
    self.assertIs(lost.status, _Status.DEVICE_LOST, lost.reason)
    self.assertIn('SIGKILL', lost.reason)
    (fine,) = measurer.measure(problem, pair, reference=reference, steps=2)
    self.assertTrue(fine.ok, fine.reason)
    self.assertLen(fine.reference_times_seconds, 2)

  def test_a_killed_client_costs_one_candidate(self):
    measurer, problem = self._open(toy_programs.matmuls(), steps=3000)
    self._kill_later(lambda: measurer.lane_pid('candidate'))
    (lost,) = measurer.measure(problem, np.array([[0, 1]]))
    self.assertIs(lost.status, _Status.CRASHED, lost.reason)
    self.assertIn('SIGKILL', lost.reason)
    (fine,) = measurer.measure(problem, np.array([[0, 1]]), steps=2)
    self.assertTrue(fine.ok, fine.reason)

  def test_a_killed_nursery_costs_one_candidate(self):
    measurer, problem = self._open(toy_programs.matmuls(), steps=3000)
    self._kill_later(
      lambda: measurer.lane_pid('candidate') and measurer.nursery_pid
    )
    (lost,) = measurer.measure(problem, np.array([[0, 1]]))
    self.assertIs(lost.status, _Status.CRASHED, lost.reason)
    (fine,) = measurer.measure(problem, np.array([[0, 1]]), steps=2)
    self.assertTrue(fine.ok, fine.reason)

  def test_a_worker_that_dies_between_calls_costs_nothing(self):
    measurer, problem = self._open(toy_programs.matmuls())
    pair = np.array([[0, 1]])
    measurer.measure(problem, pair, reference=pair[0])
    for role in ('candidate', 'reference'):
      os.kill(_children(measurer.lane_pid(role))[0], signal.SIGKILL)
    time.sleep(0.3)
    (fine,) = measurer.measure(problem, pair, reference=pair[0])
    self.assertTrue(fine.ok, fine.reason)
    self.assertNotIn('reference_failure', fine.details)

  def test_a_graph_that_ends_the_process(self):
    import tensorflow as tf

    toy = toy_programs.build(
      lambda: tf.raw_ops.Abort(
        error_msg='b', exit_without_error=False, name='b/abort'
      ),
      fetches=['b/abort'],
    )
    measurer, problem = self._open(
      toy, spec='logical:2', allow_side_effects=('Abort',)
    )
    results = measurer.measure(problem, np.array([[0, 1], [0, 0]]))
    for result in results:
      self.assertIs(result.status, _Status.CRASHED)
      self.assertIn('SIGABRT', result.reason)

  def test_values_of_what_fails_raise(self):
    measurer, problem = self._open(toy_programs.no_kernel(), spec='logical:2')
    with self.assertRaisesRegex(lane.FailedError, 'NcclAllReduce'):
      measurer.fetch_values(problem, np.array([0, 1]))

  def test_a_program_that_does_not_run_has_no_profile(self):
    measurer, problem = self._open(toy_programs.no_kernel())
    self.assertEqual(measurer.profile(problem, use_cache=False), {})

  def test_nothing_is_left_after_close(self):
    measurer, problem = self._open(toy_programs.matmuls())
    measurer.measure(problem, np.array([[0, 1]]), reference=np.array([0, 0]))
    started = _children(os.getpid())
    self.assertGreaterEqual(len(started), 7)  # 1 nursery, 2 clients, 4 workers
    measurer.close()
    time.sleep(0.5)
    self.assertEmpty(set(started) & set(_children(1) + _children(os.getpid())))

  def test_nothing_outlives_a_killed_parent(self):
    parent = subprocess.Popen(
      [sys.executable, '-c', _PARENT],
      stdout=subprocess.PIPE,
      stderr=subprocess.DEVNULL,
      env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
    )
    parent.stdout.readline()
    started = set(_children(parent.pid))
    self.assertGreaterEqual(len(started), 4)  # nursery, client, 2 workers
    parent.kill()
    parent.communicate()
    for _ in range(50):
      time.sleep(0.1)
      if not started & set(_children(1) + _children(os.getpid())):
        return
    self.fail('Some of these processes are left: ' + str(started))

  def _kill_later(self, whom) -> None:
    """Kills a process a second after it has begun to run steps."""

    def kill():
      for _ in range(300):
        time.sleep(0.1)
        try:
          pid = whom()
        except (KeyError, IndexError):
          continue
        time.sleep(1.0)
        os.kill(pid, signal.SIGKILL)
        return

    threading.Thread(target=kill, daemon=True).start()


if __name__ == '__main__':
  absltest.main()
