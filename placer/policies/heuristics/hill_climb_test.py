import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from placer.core import measurement
from placer.core import trial
from placer.policies import estimate
from placer.policies.heuristics import hill_climb
from placer.testing import fake_measurer
from placer.testing import problems

# A tenth of the default's work, so that the tests are quick.
_QUICK = hill_climb.HillClimbConfig(unit_visits=40_000, max_evaluations=600)


def _truth(problem, seed, transfer):
  """A step model that the policy doesn't know: other op and link times."""
  rng = np.random.default_rng(seed)
  schedule = estimate.Schedule(problem)
  schedule.unit_seconds = (
    1.5
    * schedule.unit_seconds
    * np.exp(rng.normal(0, 0.4, len(schedule.unit_seconds)))
  )
  scale = estimate.Scale(transfer=transfer)
  return lambda problem, candidate: schedule.makespan(candidate, scale)


def _climb(problem, measurer, rounds, seed=0):
  """Ratios of the best step to a single device, by rounds."""
  policy = hill_climb.HillClimb(problem, seed=seed, config=_QUICK)
  reference = np.zeros(problem.num_groups, np.int32)
  best, seen = 1.0, []
  for index in range(rounds):
    suggestions = policy.suggest(1)
    if not suggestions:
      break
    candidate = suggestions[0].candidate
    seen.append(candidate.tobytes())
    (measured,) = measurer.measure(
      problem, candidate[np.newaxis], reference=reference
    )
    policy.update([trial.Trial(index, policy.name, candidate, measured)])
    if measured.ok:
      ratio = np.median(measured.step_times_seconds) / np.median(
        measured.reference_times_seconds
      )
      best = min(best, ratio)
  return best, seen


class HillClimbTest(parameterized.TestCase):
  @parameterized.product(seed=[0, 1], transfer=[0.5, 2.0])
  def test_improves_modules_within_sixteen_trials(self, seed, transfer):
    problem = problems.modules(6, length=3, flops=1.5e9)
    measurer = fake_measurer.FakeMeasurer(
      _truth(problem, seed, transfer), seed=seed
    )
    best, seen = _climb(problem, measurer, 16, seed)
    self.assertLess(best, 1 / 1.2)
    self.assertLen(set(seen), len(seen))

  def test_is_better_than_its_starts(self):
    problem = problems.layered_random(10, 6, seed=1, devices=3)
    measurer = fake_measurer.FakeMeasurer(_truth(problem, 3, 0.5), noise=0.005)
    starts, seen = _climb(problem, measurer, 3 + 2)
    self.assertLen(seen, 5)
    best, _ = _climb(problem, measurer, 14)
    self.assertLess(best, 0.95 * starts)

  def test_a_climb_is_measured_before_the_next(self):
    problem = problems.modules(3)
    policy = hill_climb.HillClimb(problem, config=_QUICK)
    starts = policy.suggest(50)
    self.assertGreater(len(starts), 2)
    self.assertLen(policy.suggest(50), 1)

  def test_small_problems_come_to_an_end(self):
    problem = problems.two_chains(3)
    _, seen = _climb(problem, fake_measurer.FakeMeasurer(), 50)
    # Two blocks on two devices are four states.
    self.assertLen(seen, 4)

  def test_says_why_it_ended(self):
    policy = hill_climb.HillClimb(problems.two_chains(3))
    while policy.suggest(1):
      self.assertEmpty(policy.note)
    self.assertEqual(
      policy.note,
      'hill_climb ended: the 4 placements of its 2 blocks are all known.',
    )

  def test_does_not_suggest_what_others_measured(self):
    problem = problems.modules(1)
    policy = hill_climb.HillClimb(problem)
    starts = policy.suggest(3)
    failed = measurement.Measurement(measurement.Status.CRASHED, 'why')
    other = hill_climb.HillClimb(problem)
    other.update(
      [
        trial.Trial(i, 'other', start.candidate, failed)
        for i, start in enumerate(starts)
      ]
    )
    known = {start.candidate.tobytes() for start in starts}
    for suggestion in other.suggest(3):
      self.assertNotIn(suggestion.candidate.tobytes(), known)

  def test_works_when_no_single_device_runs(self):
    problem = problems.modules(3, flops=1e10)
    measurer = fake_measurer.FakeMeasurer(
      failure=lambda candidate: (
        (measurement.Status.OUT_OF_MEMORY, 'too big')
        if len(set(candidate.tolist())) == 1
        else None
      )
    )
    _, seen = _climb(problem, measurer, 10)
    self.assertLen(set(seen), 10)

  def test_reports_what_it_fitted(self):
    problem = problems.modules(2, flops=1e10)
    policy = hill_climb.HillClimb(problem)
    (start,) = policy.suggest(1)
    measured = measurement.Measurement(
      measurement.Status.OK, step_times_seconds=(2.5,)
    )
    metrics = policy.update([trial.Trial(0, 'x', start.candidate, measured)])
    self.assertEqual(metrics, {'best_step_seconds': 2.5, 'transfer_scale': 1.0})


if __name__ == '__main__':
  absltest.main()
