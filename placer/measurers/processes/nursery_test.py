import os
import pathlib
import sys
from unittest import mock

from absl.testing import absltest

from placer.core import errors
from placer.devices import layout
from placer.measurers.processes import lane
from placer.measurers.processes import lane_spec
from placer.measurers.processes import nursery

# A process with two threads may not make a user namespace: the kernel then
# refuses as it does where namespaces are forbidden.
_SECOND_THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
"""


class NurseryTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def _nursery(self, namespace: str) -> nursery.Nursery:
    made = nursery.Nursery(self.folder / 'log', namespace=namespace)
    self.addCleanup(made.close)
    return made

  def _spec(self) -> lane_spec.LaneSpec:
    cores = tuple(os.sched_getaffinity(0))
    return lane_spec.LaneSpec(
      'candidate',
      layout.ProcessLayout(host_cores=cores),
      str(self.folder / 'lane'),
    )

  def _forbid_namespaces(self) -> None:
    (self.folder / 'sitecustomize.py').write_text(_SECOND_THREAD)
    path = [str(self.folder), *sys.path]
    self.enterContext(mock.patch.object(sys, 'path', path))

  def test_refuses_where_namespaces_are_forbidden(self):
    self._forbid_namespaces()
    with self.assertRaisesRegex(
      errors.UsageError, 'network namespace.*--allow_exposed_workers'
    ):
      self._nursery('must').fork(self._spec())

  def test_goes_on_there_if_exposure_is_allowed(self):
    self._forbid_namespaces()
    self.assertFalse(self._nursery('try').isolated)

  def test_a_lane_answers_fails_and_ends(self):
    made = self._nursery('none')
    tested = lane.Lane(made, self._spec())
    self.assertIsNone(tested.call('unload', {}))
    with self.assertRaisesRegex(lane.FailedError, 'NoneType'):
      tested.call('step', {}, count=1)
    self.assertTrue(tested.is_idle_and_well())
    tested.close()
    self.assertFalse(tested.is_idle_and_well())
    self.assertFalse(pathlib.Path(f'/proc/{tested.pid}').exists())
    tested.close()

  def test_a_dead_nursery_is_said_to_be_lost(self):
    made = self._nursery('none')
    self.assertFalse(made.isolated)
    os.kill(made.pid, 9)
    with self.assertRaises(nursery.NurseryLostError):
      made.fork(self._spec())


if __name__ == '__main__':
  absltest.main()
