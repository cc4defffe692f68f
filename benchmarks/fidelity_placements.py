"""Placements to compare predictions with: random, planned and annealed ones."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from placer.core import placement_problem
from placer.policies import registry
from placer.policies.heuristics import annealing

_PLANNERS = (
  'expert',
  'm_topo',
  'm_etf',
  'm_sct',
  'heft',
  'scotch',
  'metis',
  'round_robin',
)
_ANNEALED = 6


def placements(
  problem: placement_problem.PlacementProblem,
  count: int,
  excluded: Sequence[np.ndarray] = (),
) -> Iterator[tuple[str, np.ndarray]]:
  """Different legal placements, none of which is a single device.

  Args:
    problem: with costs.
    count: how many.
    excluded: int32 `[G]` each, other placements that are left out.

  Yields:
    (label, int32 `[G]`).
  """
  seen = {
    suggestion.candidate.tobytes()
    for suggestion in registry.make('single_device', problem).suggest(64)
  }
  seen.update(row.tobytes() for row in excluded)
  left = min(count, 2 ** (problem.num_groups - 1))
  for label, candidate in _any_placements(problem):
    candidate = placement_problem.nearest_legal(candidate, problem.allowed)
    if candidate.tobytes() not in seen:
      seen.add(candidate.tobytes())
      yield label, candidate
      left -= 1
    if not left:
      return


def _any_placements(problem):
  for name in _PLANNERS:
    for suggestion in registry.make(name, problem).suggest(1):
      yield name, suggestion.candidate
  for seed in range(_ANNEALED):
    yield f'annealing {seed}', annealed(problem, seed)
  yield from random(problem, np.random.default_rng(0))


def annealed(
  problem: placement_problem.PlacementProblem, seed: int
) -> np.ndarray:
  """What a short search finds: good, but each in its own way.

  Args:
    problem: with costs.
    seed: also says how short.

  Returns:
    int32 `[G]`.
  """
  policy = annealing.Annealing(
    problem,
    seed=seed,
    config=annealing.AnnealingConfig(
      visits=2e6 * (1 + seed % _ANNEALED), min_evaluations=200, full_visits=0
    ),
  )
  return policy.suggest(1)[0].candidate


def random(
  problem: placement_problem.PlacementProblem, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
  """Without end: splits at random cuts, and uniformly random ones."""
  groups, devices = problem.num_groups, len(problem.devices)
  for index in itertools.count():
    if index % 2:
      yield f'random {index}', rng.integers(0, devices, groups)
    else:
      cuts = np.sort(rng.integers(0, groups, rng.integers(1, 10)))
      part = np.searchsorted(cuts, np.arange(groups), side='right')
      yield f'cuts {index}', (part + rng.integers(devices)) % devices
