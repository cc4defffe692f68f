"""ColocRL's network: embedded op types and the placer (papers.md §2).

Letters: `B` placements, `G` groups, `D` devices, `V` op types, `F` features. It
decides G times: `chosen` is (devices int32 `[B, G]`,).
"""

import numpy as np
import sonnet as snt
import tensorflow as tf

from placer.policies.learning import initializers
from placer.policies.learning import masked
from placer.policies.learning import placement_network
from placer.policies.learning import placer_network


class Seq2SeqNetwork(snt.Module):
  """See the module docstring."""

  def __init__(
    self,
    type_weights: np.ndarray,
    others: np.ndarray,
    legal: np.ndarray,
    type_embedding: int,
    sizes: placer_network.PlacerSizes,
    seed: int,
    name: str | None = None,
  ) -> None:
    """Makes the network of one graph.

    Args:
      type_weights: float32 `[G, V]`, the part of each op type in a group.
      others: float32 `[G, F]`.
      legal: bool `[G, D]`.
      type_embedding: units of an op type's embedding.
      sizes: of the placer.
      seed: of the weights.
      name: of the module.
    """
    super().__init__(name)
    self._type_weights = type_weights
    self._others = others
    self._legal = legal[np.newaxis]
    weights = initializers.TruncatedNormal(seed)
    self._embed = snt.Linear(
      type_embedding, with_bias=False, w_init=weights, name='types'
    )
    self._embed(type_weights)
    self.placer = placer_network.PlacerNetwork(
      type_embedding + others.shape[1], legal.shape[1], sizes, weights
    )

  def sample(
    self, seed: tf.Tensor, samples: int, greedy_last: bool
  ) -> tuple[tf.Tensor, placement_network.Chosen]:
    """Draws placements; see `placement_network.py`."""
    _, groups, devices = self._legal.shape
    noise = masked.gumbel([groups, 1, samples, devices], seed)
    if greedy_last:
      drawn = np.arange(samples) < samples - 1
      noise *= drawn[:, np.newaxis].astype(np.float32)
    placed = self.placer.sample(self._encode(), self._legal, noise)[0]
    return placed, (placed,)

  def score(self, chosen: placement_network.Chosen) -> placement_network.Scores:
    """The Scores of devices int32 `[B, G]`."""
    (placed,) = chosen
    log_probs = self.placer.log_probs(self._encode(), self._legal, placed)
    taken = masked.log_prob_of(log_probs, placed)
    return placement_network.Scores(
      taken, masked.entropy(log_probs), tf.ones_like(taken)
    )

  def explain(self, candidate: np.ndarray) -> placement_network.Chosen:
    """The candidate itself."""
    return (tf.constant(candidate[np.newaxis], tf.int32),)

  def attention(self, candidate: np.ndarray) -> tf.Tensor:
    """What each decision looked at, for pictures.

    Args:
      candidate: int32 `[G]`.

    Returns:
      float32 `[G, G]`: weights of the groups (last axis) at each step.
    """
    return self.placer.attention(
      self._encode(), tf.constant(candidate[np.newaxis], tf.int32)
    )[0]

  def _encode(self) -> placer_network.Encoded:
    features = tf.concat(
      [self._embed(self._type_weights), self._others], axis=1
    )
    return self.placer.encode(features[tf.newaxis])
