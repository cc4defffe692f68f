import dataclasses
import itertools

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import cost_model
from placer.core import device
from placer.core import measurement
from placer.core import placement_problem
from placer.core import trial
from placer.policies import correction
from placer.policies.heuristics import portfolio
from placer.simulation import simulator
from placer.testing import fake_measurer
from placer.testing import known_optima
from placer.testing import problems

_QUICK = portfolio.PortfolioConfig(visits=1e5, max_evaluations=400)


def _problem() -> placement_problem.PlacementProblem:
  """Two modules of three branches; the model's links are nearly free."""
  topology = problems.topology(2)
  links = tuple(device.Link(i, 1 - i, 2e-4, 1e10, (), 1e-5) for i in range(2))
  topology = dataclasses.replace(topology, links=links)
  problem = problems.modules(2, width=3, length=1, devices=topology, flops=1.0)
  rng = np.random.default_rng(0)
  costs = cost_model.build(
    problem.graph, topology, rng.uniform(1e-3, 4e-3, len(problem.graph))
  )
  return dataclasses.replace(problem, costs=costs)


def _truth(problem, factors: correction.LinkFactors) -> cost_model.CostModel:
  return dataclasses.replace(
    problem.costs,
    links=factors.of(problem.costs.links),
    host_links=factors.of(problem.costs.host_links),
  )


def _measurer(costs: cost_model.CostModel) -> fake_measurer.FakeMeasurer:
  """Steps as `costs` say, without noise."""

  def step_seconds(problem, candidate):
    row = np.asarray(candidate, np.int32)[np.newaxis]
    return float(simulator.simulate(problem, costs, row).unbounded_seconds[0])

  return fake_measurer.FakeMeasurer(step_seconds, noise=0.0, drift=0.0)


def _best(problem, costs) -> float:
  """The fastest of all placements."""
  rows = np.array(
    list(itertools.product((0, 1), repeat=problem.num_groups)), np.int32
  )
  return float(
    np.nanmin(simulator.simulate(problem, costs, rows).step_time_seconds)
  )


def _singles(problem, measurer) -> list[trial.Trial]:
  """What every search measures first."""
  rows = [
    np.full(problem.num_groups, d, np.int32)
    for d in range(len(problem.devices))
  ]
  return [
    trial.Trial(d, 'single_device', row, measurer.measure(problem, [row])[0])
    for d, row in enumerate(rows)
  ]


def _drive(
  policy: portfolio.Portfolio, measurer, trials: list[trial.Trial], most: int
) -> list[trial.Trial]:
  """Goes on until the policy ends, or `most` of its own are measured."""
  policy.update(trials)
  trials = list(trials)
  end = len(trials) + most
  while len(trials) < end:
    suggestions = policy.suggest(1)
    if not suggestions:
      break
    candidate = suggestions[0].candidate
    (measured,) = measurer.measure(policy.problem, [candidate])
    made = trial.Trial(
      len(trials), policy.name, candidate, measured, label=suggestions[0].label
    )
    trials.append(made)
    policy.update([made])
  return trials


def _fastest(trials) -> float:
  return min(
    each.measurement.step_time_seconds for each in trials if each.measurement.ok
  )


class PortfolioTest(parameterized.TestCase):
  def test_finds_known_optima(self):
    for name, (problem, best) in known_optima.cases().items():
      with self.subTest(name):
        policy = portfolio.Portfolio(problem, config=_QUICK)
        found = _drive(policy, _measurer(problem.costs), [], 4)
        # What does not fit takes no time in this measurer.
        fits = simulator.simulate(
          problem, problem.costs, np.stack([t.candidate for t in found])
        ).step_time_seconds
        self.assertAlmostEqual(np.nanmin(fits), best)

  @parameterized.parameters(
    correction.LinkFactors(latency=8.0),
    correction.LinkFactors(load=8.0, transfer=8.0),
    correction.LinkFactors(latency=8.0, load=8.0, transfer=8.0),
    correction.LinkFactors(),
  )
  def test_learns_from_a_wrong_model(self, factors):
    problem = _problem()
    truth = _truth(problem, factors)
    measurer = _measurer(truth)
    policy = portfolio.Portfolio(problem, config=_QUICK)
    trials = _drive(policy, measurer, _singles(problem, measurer), 14)
    best = _best(problem, truth)
    # It ends where half a percent may be left.
    self.assertLessEqual(_fastest(trials), 1.005 * best)
    planned = [each for each in trials if 'planned' in each.label]
    self.assertNotEmpty(planned)
    self.assertLessEqual(_fastest(trials), _fastest(planned))

  def test_splits_that_do_not_pay_are_given_up(self):
    problem = _problem()
    truth = _truth(problem, correction.LinkFactors(64.0, 64.0, 64.0))
    measurer = _measurer(truth)
    singles = _singles(problem, measurer)
    self.assertEqual(_fastest(singles), _best(problem, truth))
    policy = portfolio.Portfolio(problem, config=_QUICK)
    trials = _drive(policy, measurer, singles, 40)
    self.assertLess(len(trials), 42)
    self.assertEqual(_fastest(trials), _fastest(singles))

  def test_ends_with_a_note_and_never_suggests_what_is_known(self):
    problem = _problem()
    measurer = _measurer(_truth(problem, correction.LinkFactors(latency=8.0)))
    policy = portfolio.Portfolio(problem, config=_QUICK)
    singles = _singles(problem, measurer)
    self.assertEmpty(policy.note)
    trials = _drive(policy, measurer, singles, 60)
    self.assertLess(len(trials), 62)
    self.assertIn('no placement promises', policy.note)
    self.assertIn(f'{len(trials)} trials', policy.note)
    self.assertEmpty(policy.suggest(4))
    keys = [each.candidate.tobytes() for each in trials]
    self.assertLen(set(keys), len(keys))

  def test_equal_seeds_do_the_same(self):
    problem = _problem()
    truth = _truth(problem, correction.LinkFactors(load=8.0))
    runs = []
    for _ in range(2):
      policy = portfolio.Portfolio(problem, seed=5, config=_QUICK)
      trials = _drive(policy, _measurer(truth), [], 6)
      runs.append([each.candidate.tobytes() for each in trials])
    self.assertEqual(runs[0], runs[1])

  def test_planned_candidates_differ_by_their_work(self):
    problem = _problem()
    config = dataclasses.replace(_QUICK, planned=4, min_change=0.2)
    policy = portfolio.Portfolio(problem, config=config)
    found = policy.suggest(4)
    work = problem.costs.op_seconds.min(axis=1)
    for one, other in itertools.combinations(found, 2):
      change = work[one.candidate != other.candidate].sum() / work.sum()
      self.assertGreaterEqual(change, 0.2)
    for each in found:
      self.assertIn('planned by', each.label)

  def test_reports_the_best_step(self):
    problem = _problem()
    policy = portfolio.Portfolio(problem, config=_QUICK)
    self.assertEqual(policy.update([]), {})
    trials = _singles(problem, _measurer(problem.costs))
    metrics = policy.update(trials)
    self.assertEqual(metrics, {'best_step_seconds': _fastest(trials)})

  def test_candidates_that_fail_are_not_the_end(self):
    problem = _problem()
    failed = measurement.Measurement(
      measurement.Status.CRASHED, 'the process died'
    )
    policy = portfolio.Portfolio(problem, config=_QUICK)
    seen = set()
    for index in range(6):
      (suggestion,) = policy.suggest(1)
      seen.add(suggestion.candidate.tobytes())
      policy.update(
        [trial.Trial(index, policy.name, suggestion.candidate, failed)]
      )
    self.assertLen(seen, 6)

  def test_the_network_plans_too_where_there_are_enough_groups(self):
    config = dataclasses.replace(_QUICK, zero_shot_rounds=1)
    topology = problems.topology(2, linked=True)
    for length, wanted in ((2, False), (20, True)):
      with self.subTest(length):
        problem = problems.two_chains(length, devices=topology)
        policy = portfolio.Portfolio(problem, config=config)
        found = [row for name, row in policy._candidates() if name == 'placeto']
        self.assertEqual(bool(found), wanted)
        for candidate in found:
          problem.check(candidate)


if __name__ == '__main__':
  absltest.main()
