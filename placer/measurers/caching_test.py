import dataclasses

import numpy as np
from absl.testing import absltest

from placer.core import measurement
from placer.measurers import base
from placer.measurers import caching
from placer.measurers import failing
from placer.measurers import measurer_contract
from placer.testing import fake_measurer
from placer.testing import problems

_Status = measurement.Status


class _HashingMeasurer(base.Measurer):
  """A fake one in which candidates are the same program if sums are equal."""

  def __init__(self) -> None:
    self.inner = fake_measurer.FakeMeasurer()

  def measure(self, problem, candidates, **options):
    measured = self.inner.measure(problem, candidates, **options)
    return [
      dataclasses.replace(each, partition_hash=str(int(sum(candidate))))
      for candidate, each in zip(candidates, measured, strict=True)
    ]


class CachingContractTest(
  measurer_contract.MeasurerContract, absltest.TestCase
):
  def make(self):
    inner = fake_measurer.FakeMeasurer()
    return caching.CachingMeasurer(inner), problems.two_chains(2)


class FailingContractTest(
  measurer_contract.MeasurerContract, absltest.TestCase
):
  def make(self):
    inner = fake_measurer.FakeMeasurer()
    return failing.FailingMeasurer(inner), problems.two_chains(2)


class CachingTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.problem = problems.two_chains(1)
    self.candidates = np.array([[0, 0], [0, 1], [1, 0]], np.int32)

  def test_an_equal_candidate_is_measured_once(self):
    inner = fake_measurer.FakeMeasurer()
    measurer = caching.CachingMeasurer(inner)
    batch = self.candidates[[0, 1, 0]]
    first, other, again = measurer.measure(self.problem, batch)
    self.assertIs(first, again)
    self.assertIsNot(first, other)
    self.assertIs(measurer.measure(self.problem, batch[:1])[0], first)
    self.assertEqual(inner.calls, [(0, 0), (0, 1)])
    self.assertEqual(measurer.hits, 2)

  def test_another_reference_or_problem_is_measured_anew(self):
    inner = fake_measurer.FakeMeasurer()
    measurer = caching.CachingMeasurer(inner)
    one = self.candidates[:1]
    for problem, reference in (
      (self.problem, None),
      (self.problem, self.candidates[1]),
      (self.problem, self.candidates[2]),
      (problems.two_chains(1, devices=3), None),
    ):
      measurer.measure(problem, one, reference=reference)
    self.assertLen(inner.calls, 4)

  def test_only_failures_that_may_pass_are_tried_again(self):
    for status, calls in (
      (_Status.DEVICE_LOST, 2),
      (_Status.CRASHED, 2),
      (_Status.OUT_OF_MEMORY, 1),
      (_Status.TIMEOUT, 1),
    ):
      inner = failing.FailingMeasurer(
        fake_measurer.FakeMeasurer(), failures={0: status}
      )
      measurer = caching.CachingMeasurer(inner)
      (first,) = measurer.measure(self.problem, self.candidates[:1])
      self.assertIs(first.status, status)
      measurer.measure(self.problem, self.candidates[:1])
      self.assertEqual(inner.count, calls)

  def test_equal_hashes_are_duplicates(self):
    measurer = caching.CachingMeasurer(_HashingMeasurer())
    zero, one, two = measurer.measure(self.problem, self.candidates)
    self.assertNotIn('duplicate_of', zero.details)
    self.assertNotIn('duplicate_of', one.details)
    self.assertEqual(two.details['duplicate_of'], [0, 1])
    np.testing.assert_array_equal(
      measurer.first_with_hash(self.problem, '1'), [0, 1]
    )
    self.assertIsNone(measurer.first_with_hash(self.problem, '5'))


class FailingTest(absltest.TestCase):
  def test_counts_over_calls(self):
    problem = problems.two_chains(1)
    inner = fake_measurer.FakeMeasurer()
    measurer = failing.FailingMeasurer(inner, failures={2: _Status.TIMEOUT})
    pair = np.array([[0, 0], [1, 1]], np.int32)
    statuses = [
      result.status
      for _ in range(2)
      for result in measurer.measure(problem, pair)
    ]
    self.assertEqual(
      statuses, [_Status.OK, _Status.OK, _Status.TIMEOUT, _Status.OK]
    )
    self.assertLen(inner.calls, 3)
    measurer.close()
    self.assertTrue(inner.closed)

  def test_the_seed_decides_who_fails(self):
    problem = problems.two_chains(1)
    batch = np.zeros((40, 2), np.int32)

    def failed(seed):
      measurer = failing.FailingMeasurer(
        fake_measurer.FakeMeasurer(), rate=0.5, seed=seed
      )
      return [not each.ok for each in measurer.measure(problem, batch)]

    self.assertEqual(failed(1), failed(1))
    self.assertNotEqual(failed(1), failed(2))
    self.assertBetween(sum(failed(1)), 10, 30)


if __name__ == '__main__':
  absltest.main()
