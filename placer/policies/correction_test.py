import dataclasses

import hypothesis
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from hypothesis import strategies as st

from placer.core import cost_model
from placer.core import device
from placer.core import measurement
from placer.core import placement_problem
from placer.core import trial
from placer.policies import correction
from placer.simulation import simulator
from placer.testing import problems

_LATENCY, _RATE, _LOAD = 3e-3, 1.2e9, 5e-4


def _problem(**devices) -> placement_problem.PlacementProblem:
  """Three modules; a tensor takes as long as three ops, or six."""
  topology = problems.topology(2)
  links = tuple(
    device.Link(i, 1 - i, _LATENCY, _RATE, (), _LOAD, 1e-10) for i in range(2)
  )
  topology = dataclasses.replace(topology, links=links, **devices)
  rng = np.random.default_rng(0)
  count = len(problems.modules(3).graph)
  problem = problems.modules(
    3,
    devices=topology,
    tensor_bytes=rng.choice([4, 3_600_000, 7_200_000], count),
    flops=1.0,
  )
  costs = cost_model.build(
    problem.graph, topology, rng.uniform(5e-4, 1.5e-3, len(problem.graph))
  )
  return dataclasses.replace(problem, costs=costs)


def _with_links(costs, factors: correction.LinkFactors):
  return dataclasses.replace(
    costs,
    links=factors.of(costs.links),
    host_links=factors.of(costs.host_links),
  )


def _candidates(problem, count: int, seed: int = 0) -> np.ndarray:
  """Both single devices, then different splits."""
  rng = np.random.default_rng(seed)
  found = [np.zeros(problem.num_groups), np.ones(problem.num_groups)]
  while len(found) < count + 2:
    row = rng.integers(2, size=problem.num_groups)
    # Blocks, as planners make them, and scattered groups.
    row[: rng.integers(problem.num_groups)] = rng.integers(2)
    if 0 < row.sum() < len(row):
      found.append(row)
  return np.unique(np.array(found, np.int32), axis=0)


def _trials(candidates, seconds) -> list[trial.Trial]:
  return [
    trial.Trial(
      i,
      'x',
      candidate,
      measurement.Measurement(
        measurement.Status.OK, step_times_seconds=(float(each),)
      ),
    )
    for i, (candidate, each) in enumerate(zip(candidates, seconds, strict=True))
  ]


def _steps(problem, costs, candidates) -> np.ndarray:
  return simulator.simulate(problem, costs, candidates).step_time_seconds


class FactorsTest(parameterized.TestCase):
  def test_without_trials_nothing_is_changed(self):
    problem = _problem()
    candidates = _candidates(problem, 6)
    failed = trial.Trial(
      0,
      'x',
      candidates[0],
      measurement.Measurement(measurement.Status.TIMEOUT, 'no end'),
    )
    for trials in ([], [failed]):
      found = correction.fit(problem, problem.costs, trials)
      self.assertEqual(found.links, correction.LinkFactors())
      seconds, deviation = found.predict(candidates)
      np.testing.assert_array_equal(
        seconds, _steps(problem, problem.costs, candidates)
      )
      self.assertLen(set(deviation.tolist()), 1)
      self.assertGreater(deviation[0], 0.0)

  @parameterized.parameters(
    {'latency': 4.0},
    {'latency': 0.5},
    {'transfer': 4.0},
    {'transfer': 0.5},
    {'load': 8.0},
    {'latency': 2.0, 'load': 4.0},
  )
  def test_recovers_the_links(self, **factors):
    problem = _problem()
    truth = correction.LinkFactors(**factors)
    candidates = _candidates(problem, 14)
    seconds = _steps(problem, _with_links(problem.costs, truth), candidates)
    found = correction.fit(problem, problem.costs, _trials(candidates, seconds))
    self.assertEqual(found.links, truth)
    others = _candidates(problem, 10, seed=1)
    predicted, _ = found.predict(others)
    np.testing.assert_allclose(
      predicted,
      _steps(problem, _with_links(problem.costs, truth), others),
      rtol=1e-6,
    )

  def test_recovers_the_speed_of_each_device(self):
    problem = _problem()
    truth = problem.costs.scaled(compute=[2.0, 3.0])
    candidates = _candidates(problem, 8)
    found = correction.fit(
      problem,
      problem.costs,
      _trials(candidates, _steps(problem, truth, candidates)),
    )
    np.testing.assert_allclose(found.costs.op_seconds, truth.op_seconds)
    self.assertEqual(found.links, correction.LinkFactors())

  def test_a_device_that_ran_nothing_alone_gets_the_mean(self):
    problem = _problem()
    alone = np.zeros((1, problem.num_groups), np.int32)
    seconds = 3 * _steps(problem, problem.costs, alone)
    found = correction.fit(problem, problem.costs, _trials(alone, seconds))
    np.testing.assert_allclose(
      found.costs.op_seconds, 3 * problem.costs.op_seconds
    )

  def test_factors_on_links(self):
    links = _problem().costs.links
    links = dataclasses.replace(
      links, message_seconds=np.full_like(links.latency_seconds, 1e-3)
    )
    found = correction.LinkFactors(2.0, 4.0, 8.0).of(links)
    for name, factor in (
      ('latency_seconds', 2),
      ('bytes_per_second', 1 / 4),
      ('send_seconds_per_byte', 4),
      ('receive_seconds_per_byte', 4),
      ('message_seconds', 8),
      ('send_seconds_per_message', 8),
      ('receive_seconds_per_message', 8),
    ):
      before = getattr(links, name)[0, 1]
      self.assertGreater(before, 0.0)
      self.assertEqual(getattr(found, name)[0, 1], factor * before)
    np.testing.assert_array_equal(found.channel, links.channel)


class ResidualsTest(absltest.TestCase):
  def test_what_was_measured_is_predicted_as_measured(self):
    problem = _problem()
    candidates = _candidates(problem, 8)
    rng = np.random.default_rng(1)
    errors = np.exp(rng.normal(0, 0.05, len(candidates)))
    seconds = errors * _steps(problem, problem.costs, candidates)
    found = correction.fit(problem, problem.costs, _trials(candidates, seconds))
    predicted, deviation = found.predict(candidates)
    # Up to what is taken for noise of the measurement, 1.5 %.
    np.testing.assert_allclose(predicted, seconds, rtol=0.03)
    self.assertLess(deviation.max(), 0.016)

  def test_near_what_was_measured_more_is_known(self):
    problem = _problem()
    candidates = _candidates(problem, 3)
    seconds = _steps(problem, problem.costs, candidates)
    found = correction.fit(problem, problem.costs, _trials(candidates, seconds))
    split = candidates[1]
    near, far = split.copy(), split.copy()
    near[0] = 1 - near[0]
    far[::2] = 1 - far[::2]
    _, deviation = found.predict(np.stack([split, near, far]))
    self.assertLess(deviation[0], deviation[1])
    self.assertLess(deviation[1], deviation[2])

  @hypothesis.given(
    seed=st.integers(0, 2**16),
    count=st.integers(1, 12),
    spread=st.floats(0, 0.3),
  )
  @hypothesis.settings(max_examples=15, deadline=None, derandomize=True)
  def test_residuals_never_make_it_worse(self, seed, count, spread):
    problem = _problem()
    candidates = _candidates(problem, count, seed)
    noise = np.random.default_rng(seed).normal(0, spread, len(candidates))
    seconds = np.exp(noise) * _steps(problem, problem.costs, candidates)
    found = correction.fit(problem, problem.costs, _trials(candidates, seconds))
    by_factors = _steps(problem, found.costs, candidates)
    predicted, deviation = found.predict(candidates)
    self.assertLessEqual(
      np.linalg.norm(np.log(predicted / seconds)),
      np.linalg.norm(np.log(by_factors / seconds)) + 1e-9,
    )
    self.assertTrue((deviation >= 0).all())
    self.assertTrue(np.isfinite(predicted).all())

  def test_is_exact_on_simulated_devices(self):
    problem = _problem(is_simulated=True)
    candidates = _candidates(problem, 8)
    seconds = _steps(problem, problem.costs, candidates)
    found = correction.fit(problem, problem.costs, _trials(candidates, seconds))
    others = np.concatenate([candidates, _candidates(problem, 8, seed=2)])
    predicted, deviation = found.predict(others)
    np.testing.assert_allclose(
      predicted, _steps(problem, problem.costs, others), rtol=1e-9
    )
    self.assertLess(deviation.max(), 1e-5)

  def test_what_does_not_fit_has_no_step(self):
    problem = _problem()
    costs = dataclasses.replace(
      problem.costs, memory_bytes=np.array([1, 10**12])
    )
    problem = dataclasses.replace(problem, costs=costs)
    found = correction.fit(problem, costs, [])
    alone = np.array([[0], [1]], np.int32) * np.ones(
      problem.num_groups, np.int32
    )
    seconds, _ = found.predict(alone)
    self.assertTrue(np.isnan(seconds[0]))
    self.assertFalse(np.isnan(seconds[1]))


if __name__ == '__main__':
  absltest.main()
