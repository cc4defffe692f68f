"""What every Measurer has to keep, as tests written once.

    class MyMeasurerTest(measurer_contract.MeasurerContract, absltest.TestCase):

      def make(self):
        return MyMeasurer(...), problem

`make` may give the same pair to all tests of a class; the contract closes
nothing but what `make_to_close` gives.
"""

import abc

import numpy as np

from placer.core import measurement
from placer.core import placement_problem
from placer.measurers import base


class MeasurerContract(abc.ABC):
  """Mixed into a TestCase; see the module docstring.

  The problem needs at least two devices, and each placement must run.
  """

  @abc.abstractmethod
  def make(
    self,
  ) -> tuple[base.Measurer, placement_problem.PlacementProblem]:
    """A measurer, and a problem that it can measure."""

  def _candidates(
    self, problem: placement_problem.PlacementProblem, count: int = 3
  ) -> np.ndarray:
    rng = np.random.default_rng(0)
    scores = rng.random((count, *problem.allowed.shape))
    return np.where(problem.allowed, scores, -1).argmax(axis=2).astype(np.int32)

  def test_legal_candidates_run(self):
    """One Measurement a candidate, each with its number of steps."""
    measurer, problem = self.make()
    results = measurer.measure(problem, self._candidates(problem), steps=3)
    self.assertLen(results, 3)
    for result in results:
      self.assertIs(result.status, measurement.Status.OK, result.reason)
      self.assertLen(result.step_times_seconds, 3)
      self.assertEmpty(result.reference_times_seconds)
      self.assertGreater(min(result.step_times_seconds), 0)
      self.assertEmpty(result.moved_ops)
      self.assertLessEqual(
        set(result.peak_memory_bytes), set(problem.devices.names)
      )

  def test_reference_steps_are_paired(self):
    """As many reference times as step times."""
    measurer, problem = self.make()
    candidates = self._candidates(problem)
    for result in measurer.measure(
      problem, candidates[:2], reference=candidates[2], steps=4
    ):
      self.assertLen(result.step_times_seconds, 4)
      self.assertLen(result.reference_times_seconds, 4)

  def test_giving_up_leaves_fewer_steps(self):
    """A ratio that every candidate exceeds ends the timing early."""
    measurer, problem = self.make()
    candidates = self._candidates(problem)
    (result,) = measurer.measure(
      problem,
      candidates[:1],
      reference=candidates[1],
      steps=50,
      give_up_ratio=1e-9,
    )
    self.assertIs(result.status, measurement.Status.OK)
    self.assertLess(len(result.step_times_seconds), 50)
    self.assertLen(
      result.reference_times_seconds, len(result.step_times_seconds)
    )

  def test_illegal_candidates_raise(self):
    """Wrong shape or device: the caller's fault, so an error."""
    measurer, problem = self.make()
    legal = self._candidates(problem, 1)
    with self.assertRaises(ValueError):
      measurer.measure(problem, np.full_like(legal, len(problem.devices)))
    with self.assertRaises(ValueError):
      measurer.measure(problem, legal[:, :-1])
    with self.assertRaises(ValueError):
      measurer.measure(problem, legal, reference=np.full_like(legal[0], -1))

  def test_no_candidates(self):
    """B = 0 gives nothing."""
    measurer, problem = self.make()
    empty = np.zeros((0, problem.num_groups), np.int32)
    self.assertEmpty(measurer.measure(problem, empty))

  def test_closing_twice_is_fine(self):
    """`close` may be called again, also by the context manager."""
    measurer, _ = self.make_to_close()
    with measurer:
      measurer.close()
    measurer.close()

  def make_to_close(
    self,
  ) -> tuple[base.Measurer, placement_problem.PlacementProblem]:
    """Like `make`, for a test that closes it."""
    return self.make()
