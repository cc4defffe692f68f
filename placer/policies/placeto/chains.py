"""Chains: placements that each go their own way, by moves that are scored.

    chains = Chains.begin(moves, current, values, log_probs, count, rng)
    while not chains.is_over:
      proposed = chains.propose(moves, unguided, rng)      # int32 [B, G]
      chains.accept(proposed, score(proposed), heat, rng)

A move is one of `GuidedMoves`, drawn at the beginning, or with the probability
`unguided` one of `GroupMoves`, which also exchange and swap and ask no network.
A chain accepts what is not worse, and what is worse by x with the probability
exp(-x / heat) (Metropolis).

Letters: `B` chains, `G` groups, `D` devices, `S` moves.
"""

import dataclasses

import numpy as np

from placer.policies import metropolis
from placer.policies.placeto import guided_moves


@dataclasses.dataclass(eq=False)
class Chains:
  """B placements under way; see the module docstring.

  Attributes:
    current: int32 `[B, G]`.
    values: float64 `[B]`, their scores.
    sets: int64 `[S, B]`, that will move.
    devices: int32 `[S, B]`, where to.
    move: how many were made.
  """

  current: np.ndarray
  values: np.ndarray
  sets: np.ndarray
  devices: np.ndarray
  move: int = 0

  @classmethod
  def begin(
    cls,
    moves: guided_moves.GuidedMoves,
    current: np.ndarray,
    values: np.ndarray,
    log_probs: np.ndarray,
    count: int,
    rng: np.random.Generator,
  ) -> 'Chains':
    """Draws the moves.

    Args:
      moves: of the problem.
      current: int32 `[B, G]`, legal.
      values: float `[B]`, their scores.
      log_probs: float32 `[B, G, D]`, of the network.
      count: S.
      rng: of the draws.
    """
    sets, devices = moves.draw(current, log_probs, count, rng)
    return cls(current, values, sets, devices)

  @property
  def is_over(self) -> bool:
    """Whether all moves were made."""
    return self.move >= len(self.sets)

  def propose(
    self,
    moves: guided_moves.GuidedMoves,
    unguided: float,
    rng: np.random.Generator,
  ) -> np.ndarray:
    """The next move of each chain; int32 `[B, G]`, legal."""
    guided = moves.apply(
      self.current, self.sets[self.move], self.devices[self.move]
    )
    free = moves.moves.propose(self.current, rng)
    is_free = rng.random(len(self.current)) < unguided
    return np.where(is_free[:, np.newaxis], free, guided)

  def accept(
    self,
    proposed: np.ndarray,
    values: np.ndarray,
    heat: float,
    rng: np.random.Generator,
  ) -> None:
    """Makes the move, or not.

    Args:
      proposed: of `propose`.
      values: float `[B]`, its scores.
      heat: the temperature, in the unit of scores, positive.
      rng: of what is accepted.
    """
    accepted = metropolis.accepted(values, self.values, heat, rng)
    self.current = np.where(accepted[:, np.newaxis], proposed, self.current)
    self.values = np.where(accepted, values, self.values)
    self.move += 1
