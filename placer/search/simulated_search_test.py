"""The loop with the simulator in it: quick, exact, the same each time."""

import dataclasses
import pathlib
import time

import numpy as np
from absl.testing import absltest

from placer.core import cost_model
from placer.measurers import simulation_measurer
from placer.policies import registry
from placer.search import budget
from placer.search import loop
from placer.search import paired_ratio
from placer.search import trial_log
from placer.testing import problems

_CONFIG = loop.SearchConfig(
  batch_size=64,
  steps=1,
  final_steps=paired_ratio.MIN_PAIRS,
  give_up_ratio=None,
)


def _problem(op_seconds):
  topology = dataclasses.replace(
    problems.topology(2, linked=True), spec='simulated:x', is_simulated=True
  )
  problem = problems.modules(4, width=4, length=3, devices=topology)
  seconds = np.full(len(problem.graph), op_seconds)
  costs = cost_model.build(problem.graph, topology, seconds)
  return dataclasses.replace(problem, costs=costs)


def _search(problem, trials, log=None, seconds=60.0, seed=1):
  with simulation_measurer.SimulationMeasurer() as measurer:
    return loop.search(
      problem,
      measurer,
      [registry.make('random', problem, seed=seed)],
      baselines=registry.baselines(problem),
      config=_CONFIG,
      budget=budget.Budget(seconds, trials),
      log=log,
    )


class SimulatedSearchTest(absltest.TestCase):
  def test_thousands_of_trials_in_seconds_also_with_a_log(self):
    problem = _problem(op_seconds=0.01)
    _search(problem, 10)  # compiles the simulator
    path = pathlib.Path(self.create_tempdir().full_path) / 'trials.jsonl'
    start = time.process_time()
    with trial_log.TrialLog(path, trial_log.Header('p')) as log:
      result = _search(problem, 3000, log)
    self.assertLess(time.process_time() - start, 10)
    self.assertLen(result.trials, 3000)
    self.assertLen(trial_log.read(path)[1], 3000)
    with trial_log.TrialLog(path, trial_log.Header('p')) as log:
      result = _search(problem, 3100, log, seed=2)
    self.assertLen(result.trials, 3100)

  def test_the_fastest_trial_is_chosen(self):
    result = _search(_problem(op_seconds=0.01), 300)
    best = min(t.measurement.step_time_seconds for t in result.trials)
    self.assertTrue(result.improved)
    self.assertEqual(result.chosen.measurement.step_time_seconds, best)
    self.assertEqual(result.chosen.interval, (result.chosen.ratio,) * 2)

  def test_the_same_seed_gives_the_same_trials(self):
    one, two = (_search(_problem(op_seconds=0.01), 200) for _ in range(2))
    for a, b in zip(one.trials, two.trials, strict=True):
      np.testing.assert_array_equal(a.candidate, b.candidate)
      self.assertEqual(a.measurement, b.measurement)

  def test_long_steps_take_no_time_to_simulate(self):
    result = _search(_problem(op_seconds=1000.0), 100, seconds=30.0)
    self.assertLen(result.trials, 100)


if __name__ == '__main__':
  absltest.main()
