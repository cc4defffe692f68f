"""Policy: suggests candidates, and is told what came of them.

The loop that calls it (`placer/search/loop.py`):

    policy = registry.make(name, problem, seed=seed)
    while budget is left:
      suggestions = policy.suggest(count)       # at most count, [] when done
      trials = [trial of each suggestion]       # measured, or found in the log
      metrics = policy.update(trials)

`suggest` may be called again before `update`; `update` may be given trials of
other policies, too (they share one log), and trials that did not run: their
measurement has a status. A policy owns its generator, made from `seed`; equal
problem, seed and trials give equal suggestions.

A new policy is one file in `placer/policies/heuristics/` (or a folder beside
it) with a `Policy` subclass that sets `name`; see CONTRIBUTING.md.
"""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from placer.core import placement_problem
from placer.core import trial as trial_lib


@dataclasses.dataclass(frozen=True, eq=False)
class Suggestion:
  """A candidate to be measured.

  Attributes:
    candidate: int32 `[G]`, legal.
    label: for people: 'single_device /job:worker/task:0', 'layers' or ''.
  """

  candidate: np.ndarray
  label: str = ''


class Policy(abc.ABC):
  """Suggests candidates; see the module docstring for the calling loop.

  Attributes:
    name: what `--policy=` calls it, snake_case.
    summary: one line for `--help`.
    is_learned: whether it is a `learning/learned_policy.py`, which `placer
      train` trains and which takes `config` and `checkpoint`.
  """

  name: ClassVar[str]
  summary: ClassVar[str]
  is_learned: ClassVar[bool] = False

  def __init__(
    self, problem: placement_problem.PlacementProblem, *, seed: int = 0
  ) -> None:
    """Makes a policy for one problem.

    Args:
      problem: G groups on D devices.
      seed: seeds the policy's own generator.
    """
    self.problem = problem
    self.rng = np.random.default_rng(seed)

  @abc.abstractmethod
  def suggest(self, count: int) -> Sequence[Suggestion]:
    """Suggests at most `count` candidates; none when it has no more."""

  def update(self, trials: Sequence[trial_lib.Trial]) -> Mapping[str, float]:
    """Learns from trials.

    Args:
      trials: measured candidates of this problem, any policy's, also failed
        ones.

    Returns:
      Metrics for the log, {name: value}; {} if there are none.
    """
    del trials
    return {}
