"""PlacementNetwork: what a network that places a graph in one go can do.

Letters: `B` placements, `G` groups, `M` decisions of a placement (of a grouper
and a placer together). What a network decided is `chosen`, a tuple of int32
tensors in the network's terms; the first axis of each divides B.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import tensorflow as tf

Chosen = tuple[tf.Tensor, ...]


class Scores(NamedTuple):
  """What a network says of decisions.

  Attributes:
    log_probs: float32 `[B, M]`, of what was chosen.
    entropies: float32 `[B, M]`, in nats.
    counts: float32 `[B, M]`, 1 for decisions that matter, else 0.
  """

  log_probs: tf.Tensor
  entropies: tf.Tensor
  counts: tf.Tensor


class PlacementNetwork(Protocol):
  """See the module docstring; it is a snt.Module, too."""

  trainable_variables: Sequence[tf.Variable]

  def sample(
    self, seed: tf.Tensor, samples: int, greedy_last: bool
  ) -> tuple[tf.Tensor, Chosen]:
    """Draws placements.

    Args:
      seed: int32 `[2]`.
      samples: B.
      greedy_last: the last one has the likeliest decisions.

    Returns:
      (candidates int32 `[B, G]`, chosen).
    """

  def score(self, chosen: Chosen) -> Scores:
    """The Scores of what was chosen."""

  def explain(self, candidate: np.ndarray) -> Chosen:
    """Decisions, a row each, that make a candidate int32 `[G]`."""
