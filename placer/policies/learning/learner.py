"""Learner: a policy network and how it learns, without saying from what.

The loop that calls it (`training.py`, and `learned_policy.py` on devices):

    while samples are left:
      proposal = learner.propose(update)
      outcomes = evaluate(proposal.graph, proposal.candidates)
      metrics = learner.learn(proposal, outcomes)
      update += 1

Letters: `B` placements of a proposal, `G` groups, `D` devices, `P` graphs.

A learner draws random numbers from its seed and `update` only, so equal seeds
and outcomes give the same curve, also over a resume: all its state is in
`trackables` (weights, optimizer) and `arrays` (baselines, what is replayed).
"""

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from placer.core import placement_problem
from placer.policies.learning import rewards


@dataclasses.dataclass(frozen=True, eq=False)
class Proposal:
  """Placements of one graph that a learner wants to know the steps of.

  Attributes:
    graph: index into the learner's `problems`.
    candidates: int32 `[B, G]`, legal.
    context: what the learner needs to learn from them; its own.
  """

  graph: int
  candidates: np.ndarray
  context: Any = None


class Learner(abc.ABC):
  """A policy that learns; see the module docstring.

  Attributes:
    problems: the P graphs that it places.
    reference_seconds: P numbers, what rewards are relative to: the step on the
      best single device.
  """

  problems: Sequence[placement_problem.PlacementProblem]
  reference_seconds: Sequence[float]

  @abc.abstractmethod
  def propose(self, update: int, *, measured: bool = False) -> Proposal:
    """Draws placements.

    Args:
      update: the number of updates so far; with the seed it decides the draw.
      measured: they will be run on devices, seconds each: few at a time.
    """

  @abc.abstractmethod
  def learn(
    self, proposal: Proposal, outcomes: rewards.Outcomes
  ) -> Mapping[str, float]:
    """One update of the networks.

    Args:
      proposal: of `propose`.
      outcomes: of its B candidates.

    Returns:
      Scalars for the log; among them 'reward', 'baseline', 'entropy' and
      'gradient_norm'.
    """

  def tell(self, candidates: np.ndarray, outcomes: rewards.Outcomes) -> None:
    """Learns what its best simulated placements came to on the devices.

    Called at most once, before the first measured proposal.

    Args:
      candidates: int32 `[B, G]`, of the first graph.
      outcomes: theirs, measured.
    """
    del candidates, outcomes

  @abc.abstractmethod
  def trackables(self) -> Mapping[str, tf.Module]:
    """{name: networks and optimizers}, for tf.train.Checkpoint."""

  def arrays(self) -> Mapping[str, np.ndarray]:
    """The rest of the state, for a checkpoint."""
    return {}

  def set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
    """The inverse of `arrays`."""
    del arrays

  @abc.abstractmethod
  def configuration(self) -> Mapping[str, Any]:
    """What a checkpoint must agree with: JSON values by field."""
