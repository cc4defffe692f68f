import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from placer.core import device
from placer.core import step_profile
from placer.problems import costs
from placer.problems import profiled_costs
from placer.testing import problems


def _profile(count: int, **fields) -> step_profile.StepProfile:
  """Of ops that each run once, take 1 ms and make 64 bytes."""
  return step_profile.StepProfile(
    **{
      'op_seconds': np.full(count, 1e-3),
      'op_runs': np.ones(count, np.int64),
      'temporary_bytes': np.zeros(count, np.int64),
      'tensor_bytes': np.full(count, 64),
      'shares_tensor': np.full(count, -1, np.int32),
      'persistent_bytes': 0,
      'step_seconds': 1e-3 * count,
    }
    | fields
  )


@st.composite
def _profiles(draw: st.DrawFn) -> step_profile.StepProfile:
  count = draw(st.integers(1, 8))
  seconds = draw(hnp.arrays(np.float64, count, elements=st.floats(0, 1e-2)))
  runs = draw(hnp.arrays(np.int64, count, elements=st.integers(0, 5)))
  runs[draw(st.integers(0, count - 1))] += 1
  return _profile(
    count,
    op_seconds=seconds,
    op_runs=runs,
    step_seconds=draw(st.floats(1e-6, 1e-1)),
  )


class WithoutTracingTest(absltest.TestCase):
  @hypothesis.given(profile=_profiles())
  @hypothesis.settings(deadline=None, derandomize=True)
  def test_adds_up_to_the_step_and_is_never_negative(self, profile):
    found = profiled_costs.without_tracing(profile)
    self.assertTrue((found >= 0).all())
    np.testing.assert_allclose(found.sum(), profile.step_seconds)

  def test_each_record_costs_the_same(self):
    profile = _profile(
      3,
      op_seconds=np.array([20e-6, 12e-6, 1e-6]),
      op_runs=np.array([2, 4, 1]),
      step_seconds=20e-6,
    )
    # 2 us a record: 4 + 8 + 1, since the last one has no more.
    np.testing.assert_allclose(
      profiled_costs.without_tracing(profile), [16e-6, 4e-6, 0], atol=1e-12
    )

  def test_what_is_too_much_for_traces_is_a_slower_step(self):
    profile = _profile(2, step_seconds=1e-3)
    np.testing.assert_allclose(
      profiled_costs.without_tracing(profile), [5e-4, 5e-4]
    )

  def test_the_time_between_ops_is_shared_out(self):
    profile = _profile(2, op_runs=np.array([1, 3]), step_seconds=6e-3)
    np.testing.assert_allclose(
      profiled_costs.without_tracing(profile), [2e-3, 4e-3]
    )


class BuildTest(absltest.TestCase):
  def test_without_profiles_costs_are_analytic(self):
    problem = problems.chain(3)
    made = profiled_costs.build(problem.graph, problem.devices, {})
    analytic = costs.analytic(problem.graph, problem.devices)
    np.testing.assert_array_equal(made.op_seconds, analytic.op_seconds)

  def test_an_op_takes_what_its_runs_took(self):
    problem = problems.chain(3)
    profile = _profile(
      3, op_seconds=np.array([1e-3, 3e-3, 2e-3]), op_runs=np.array([1, 3, 1])
    )
    profile = dataclasses.replace(profile, step_seconds=6e-3)
    made = profiled_costs.build(
      problem.graph, problem.devices, {0: profile, 1: profile}
    )
    for column in range(2):
      np.testing.assert_allclose(made.op_seconds[:, column], [1e-3, 1e-3, 2e-3])
    np.testing.assert_array_equal(made.op_runs, [1, 3, 1])
    np.testing.assert_array_equal(made.gap_seconds, 0)

  def test_what_was_never_seen_takes_nothing(self):
    problem = problems.chain(3)
    seen = np.array([True, False, True])
    profile = _profile(
      3,
      op_seconds=1e-3 * seen,
      op_runs=seen.astype(np.int64),
      step_seconds=2e-3,
    )
    made = profiled_costs.build(
      problem.graph, problem.devices, {0: profile, 1: profile}
    )
    np.testing.assert_allclose(made.op_seconds[:, 0], [1e-3, 0, 1e-3])

  def test_an_op_that_one_device_left_to_another_is_not_free_there(self):
    # As an op without a GPU kernel, when the GPU is profiled.
    problem = problems.chain(2)
    first = _profile(
      2,
      op_seconds=np.array([1e-3, 0]),
      op_runs=np.array([1, 0]),
      step_seconds=1e-3,
    )
    made = profiled_costs.build(
      problem.graph, problem.devices, {0: first, 1: _profile(2)}
    )
    analytic = costs.analytic(problem.graph, problem.devices)
    self.assertEqual(made.op_seconds[1, 0], analytic.op_seconds[1, 0])
    np.testing.assert_allclose(made.op_seconds[1, 1], 1e-3)

  def test_a_device_without_a_profile_is_like_others_of_its_type(self):
    problem = problems.chain(3)
    analytic = costs.analytic(problem.graph, problem.devices)
    step = 5 * analytic.op_seconds[:, 0].sum()
    profile = _profile(3, op_seconds=np.full(3, step / 3), step_seconds=step)
    made = profiled_costs.build(problem.graph, problem.devices, {0: profile})
    np.testing.assert_allclose(
      made.op_seconds[:, 1], 5 * analytic.op_seconds[:, 1]
    )

  def test_memory_is_as_allocated(self):
    problem = problems.chain(3)
    profile = _profile(
      3,
      tensor_bytes=np.array([256, 256, 128]),
      shares_tensor=np.array([-1, 0, -1], np.int32),
      temporary_bytes=np.array([0, 0, 32]),
    )
    made = profiled_costs.build(problem.graph, problem.devices, {0: profile})
    np.testing.assert_array_equal(made.resident_bytes, [256, 0, 128])
    np.testing.assert_array_equal(made.shares_tensor, [-1, 0, -1])
    np.testing.assert_array_equal(made.temporary_bytes, [0, 0, 32])

  def test_a_buffer_of_something_else_is_not_shared(self):
    # In the graph, the last op reads the second one only.
    problem = problems.chain(3)
    profile = _profile(3, shares_tensor=np.array([-1, -1, 0], np.int32))
    made = profiled_costs.build(problem.graph, problem.devices, {0: profile})
    np.testing.assert_array_equal(made.shares_tensor, [-1, -1, -1])
    np.testing.assert_array_equal(made.resident_bytes, [64, 64, 64])

  def test_a_buffer_is_shared_through_a_fused_op(self):
    # The last op took over what the fused one was made from.
    problem = problems.chain(3)
    profile = _profile(
      3,
      op_runs=np.array([1, 0, 1]),
      tensor_bytes=np.array([64, -1, 64]),
      shares_tensor=np.array([-1, -1, 0], np.int32),
    )
    made = profiled_costs.build(problem.graph, problem.devices, {0: profile})
    np.testing.assert_array_equal(made.shares_tensor, [-1, 0, 1])
    np.testing.assert_array_equal(made.resident_bytes, [64, 0, 0])

  def test_what_a_fused_op_read_is_there_until_the_fusion_ran(self):
    problem = problems.chain(3)
    run = np.array([True, False, True])
    profile = _profile(
      3,
      op_runs=run.astype(np.int64),
      tensor_bytes=np.array([64, -1, 64]),
    )
    made = profiled_costs.build(problem.graph, problem.devices, {0: profile})
    np.testing.assert_array_equal(made.shares_tensor, [-1, 0, -1])
    np.testing.assert_array_equal(made.resident_bytes, [64, 0, 64])


class MeasuredProblemTest(absltest.TestCase):
  def test_links_and_costs_are_the_measured_ones(self):
    problem = problems.chain(3)
    links = [device.Link(i, 1 - i, 1e-3, 1e9, (), 2e-4, 0.0) for i in range(2)]
    found = profiled_costs.measured_problem(
      problem, links, {0: _profile(3), 1: _profile(3)}
    )
    self.assertEqual(found.devices.links, tuple(links))
    self.assertAlmostEqual(found.costs.links.latency_seconds[0, 1], 6e-4)
    self.assertEqual(found.costs.links.bytes_per_second[0, 1], 1e9)
    self.assertEqual(found.costs.links.send_seconds_per_message[1, 0], 2e-4)
    np.testing.assert_allclose(found.costs.op_seconds, 1e-3)

  def test_what_kernels_keep_is_shared_out(self):
    problem = problems.chain(3)
    graph = dataclasses.replace(
      problem.graph, persistent_bytes=np.array([100, 0, 300])
    )
    problem = dataclasses.replace(problem, graph=graph)
    for held, expected in ((800, [200, 0, 600]), (200, [100, 0, 300])):
      profile = _profile(3, persistent_bytes=held)
      found = profiled_costs.measured_problem(problem, (), {0: profile})
      np.testing.assert_array_equal(found.graph.persistent_bytes, expected)


if __name__ == '__main__':
  absltest.main()
