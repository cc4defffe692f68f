"""HP's networks: a feed-forward grouper, and the placer on its groups.

Letters: `B` placements, `E` groupings (E divides B), `G` groups, `S` slots, `D`
devices, `V` op types, `A` amounts, `F` features.

The grouper puts each group into a slot, all at once and independently. The
placer reads what the slots came to hold (op types, amounts, adjacency between
slots) and gives each slot a device. `chosen` is (slots int32 `[E, G]`, devices
int32 `[B, S]`); the B / E placements of a grouping follow each other. Decisions
are those of the placer, then those of the grouper; empty slots don't count.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import sonnet as snt
import tensorflow as tf

from placer.policies.learning import initializers
from placer.policies.learning import masked
from placer.policies.learning import placement_network
from placer.policies.learning import placer_network


@dataclasses.dataclass(frozen=True, eq=False)
class Inputs:
  """What the networks are told of a graph.

  Attributes:
    type_counts: float32 `[G, V]`.
    amounts: float32 `[G, A]`, shares that add up.
    adjacency: float32 `[G, G]`.
    own: float32 `[G, F]`, for the grouper.
    slot_of_class: bool `[G, S]`, slots that a group may go to.
    legal: bool `[S, D]`, devices that a slot may use.
  """

  type_counts: np.ndarray
  amounts: np.ndarray
  adjacency: np.ndarray
  own: np.ndarray
  slot_of_class: np.ndarray
  legal: np.ndarray


class GrouperPlacerNetwork(snt.Module):
  """See the module docstring."""

  def __init__(
    self,
    inputs: Inputs,
    explain: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    *,
    grouper_hidden: int,
    grouper_tanh_constant: float,
    type_embedding: int,
    placements: int,
    sizes: placer_network.PlacerSizes,
    seed: int,
    name: str | None = None,
  ) -> None:
    """Makes the networks of one graph.

    Args:
      inputs: of the graph.
      explain: a candidate int32 `[G]` -> (slots `[G]`, devices `[S]`).
      grouper_hidden: units of the grouper's hidden layer.
      grouper_tanh_constant: its logits lie in [-C, C].
      type_embedding: units of an op type's embedding.
      placements: drawn for each grouping, if that divides B.
      sizes: of the placer.
      seed: of the weights.
      name: of the module.
    """
    super().__init__(name)
    self._inputs = inputs
    self._explain = explain
    self._placements = placements
    self._tanh_constant = grouper_tanh_constant
    weights = initializers.TruncatedNormal(seed)
    self._embed = snt.Linear(
      type_embedding, with_bias=False, w_init=weights, name='types'
    )
    slots = inputs.legal.shape[0]
    self.grouper = snt.nets.MLP(
      [grouper_hidden, slots],
      w_init=weights,
      activation=tf.nn.relu,
      name='grouper',
    )
    self._grouper_logits()
    known = type_embedding + inputs.amounts.shape[1] + 2 * slots
    self.placer = placer_network.PlacerNetwork(
      known + inputs.legal.shape[1] + 1,
      inputs.legal.shape[1],
      sizes,
      weights,
    )

  def sample(
    self, seed: tf.Tensor, samples: int, greedy_last: bool
  ) -> tuple[tf.Tensor, placement_network.Chosen]:
    """Draws placements; see `placement_network.py`."""
    each = self._placements if samples % self._placements == 0 else 1
    groupings = samples // each
    slots, devices = self._inputs.legal.shape
    placer_noise = masked.gumbel([slots, groupings, each, devices], seed + 1)
    logits, legal = self._grouper_logits(), self._inputs.slot_of_class
    slot_of_group = masked.sample(logits, legal, groupings, seed)
    if greedy_last:
      last = np.arange(samples) == samples - 1
      drawn = (~last).astype(np.float32)
      placer_noise *= drawn.reshape(groupings, each, 1)
      # With one grouping for all, it has to be a draw.
      if groupings > 1:
        likeliest = masked.pick(masked.mask(logits, legal), 0.0)
        slot_of_group = tf.where(
          last[each - 1 :: each, np.newaxis], likeliest, slot_of_group
        )
    encoded = self._encode(slot_of_group)
    legal = tf.tile(self._inputs.legal[np.newaxis], [groupings, 1, 1])
    placed = self.placer.sample(encoded, legal, placer_noise)
    placed = tf.reshape(placed, [samples, slots])
    return self._candidates(slot_of_group, placed), (slot_of_group, placed)

  def score(self, chosen: placement_network.Chosen) -> placement_network.Scores:
    """The Scores of (slots `[E, G]`, devices `[B, S]`)."""
    slot_of_group, placed = chosen
    each = tf.shape(placed)[0] // tf.shape(slot_of_group)[0]
    groups, slots = self._inputs.slot_of_class.shape
    placer = self.placer.log_probs(
      self._encode(slot_of_group), self._inputs.legal[np.newaxis], placed
    )
    grouper = masked.log_probs(
      self._grouper_logits(), self._inputs.slot_of_class
    )
    taken = tf.reduce_sum(
      tf.one_hot(slot_of_group, slots) * grouper[tf.newaxis], axis=-1
    )
    is_used = tf.reduce_max(tf.one_hot(slot_of_group, slots), axis=1)
    batch = tf.shape(placed)[0]
    entropies = tf.broadcast_to(masked.entropy(grouper), [batch, groups])
    return placement_network.Scores(
      log_probs=tf.concat(
        [masked.log_prob_of(placer, placed), tf.repeat(taken, each, axis=0)],
        axis=1,
      ),
      entropies=tf.concat([masked.entropy(placer), entropies], axis=1),
      counts=tf.concat(
        [tf.repeat(is_used, each, axis=0), tf.ones([batch, groups])], axis=1
      ),
    )

  def explain(self, candidate: np.ndarray) -> placement_network.Chosen:
    """Slots and devices that make a candidate int32 `[G]`."""
    slots, devices = self._explain(candidate)
    return tf.constant(slots[np.newaxis]), tf.constant(devices[np.newaxis])

  def _grouper_logits(self) -> tf.Tensor:
    """float32 `[G, S]`."""
    counts = self._inputs.type_counts
    weights = counts / counts.sum(axis=1, keepdims=True)
    logits = self.grouper(
      tf.concat([self._embed(weights), self._inputs.own], axis=1)
    )
    return self._tanh_constant * tf.tanh(logits)

  def _encode(self, slot_of_group: tf.Tensor) -> placer_network.Encoded:
    """Reads the slots of groupings int32 `[E, G]`."""
    inputs = self._inputs
    slots = inputs.legal.shape[0]
    held = tf.one_hot(slot_of_group, slots, axis=1)  # [E, S, G]
    count = tf.reduce_sum(held, axis=2, keepdims=True)
    types = tf.tensordot(held, inputs.type_counts, 1)
    types /= tf.maximum(tf.reduce_sum(types, axis=2, keepdims=True), 1.0)
    reads = tf.matmul(
      tf.tensordot(held, inputs.adjacency, 1), held, transpose_b=True
    )
    reads = tf.minimum(reads, 1.0)
    legal = tf.cast(inputs.legal, tf.float32)[tf.newaxis]
    return self.placer.encode(
      tf.concat(
        [
          self._embed_slots(types),
          tf.sqrt(tf.tensordot(held, inputs.amounts, 1) * slots),
          reads,
          tf.transpose(reads, [0, 2, 1]),
          tf.repeat(legal, tf.shape(held)[0], axis=0),
          tf.cast(count > 0, tf.float32),
        ],
        axis=2,
      )
    )

  def _embed_slots(self, weights: tf.Tensor) -> tf.Tensor:
    return tf.tensordot(weights, self._embed.w, 1)

  def _candidates(
    self, slot_of_group: tf.Tensor, placed: tf.Tensor
  ) -> tf.Tensor:
    """int32 `[B, G]`: the device of each group's slot."""
    each = placed.shape[0] // slot_of_group.shape[0]
    slots = tf.repeat(slot_of_group, each, axis=0)
    return tf.gather(placed, slots, batch_dims=1)
