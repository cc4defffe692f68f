"""The placer network: attention by hand, legality, and both ways agree."""

import dataclasses

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from placer.policies.learning import initializers
from placer.policies.learning import masked
from placer.policies.learning import placer_network

_SIZES = placer_network.PlacerSizes(
  input=4, hidden=4, attention=3, device_embedding=2, group_input=2
)
_GROUPS, _DEVICES, _SEQUENCES, _EACH = 5, 3, 2, 4


def _network(**changes) -> placer_network.PlacerNetwork:
  network = placer_network.PlacerNetwork(
    6,
    _DEVICES,
    dataclasses.replace(_SIZES, **changes),
    initializers.TruncatedNormal(1),
  )
  # The head starts with zeros; make it say something.
  rng = np.random.default_rng(0)
  for variable in network.trainable_variables:
    if 'head' in variable.name:
      variable.assign(rng.normal(size=variable.shape))
  return network


class PlacerNetworkTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    rng = np.random.default_rng(0)
    shape = (_SEQUENCES, _GROUPS, 6)
    self.features = rng.normal(size=shape).astype(np.float32)
    self.legal = rng.random((_SEQUENCES, _GROUPS, _DEVICES)) < 0.6
    self.legal[..., 1] |= ~self.legal.any(axis=-1)
    self.noise = masked.gumbel(
      [_GROUPS, _SEQUENCES, _EACH, _DEVICES], tf.constant([1, 2])
    )

  @parameterized.parameters(True, False)
  def test_attention_is_the_softmax_of_its_score(self, additive):
    network = _network(additive=additive)
    encoded = network.encode(self.features)
    hidden = np.random.default_rng(1).normal(size=(2, 7, 4)).astype(np.float32)
    logits, weights = network._logits(encoded, tf.constant(hidden))

    query = network._query(hidden).numpy()
    keys = network._key(encoded.memory).numpy()
    if additive:
      sums = np.tanh(keys[:, np.newaxis] + query[:, :, np.newaxis])
      scores = sums @ network._score.numpy()
    else:
      scores = query @ keys.transpose(0, 2, 1) / np.sqrt(3)
    expected = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(weights, expected, atol=1e-5)

    context = expected @ encoded.memory.numpy()
    both = np.concatenate([context, hidden], axis=-1)
    raw = both @ network._head.w.numpy() + network._head.b.numpy()
    np.testing.assert_allclose(logits, 2.5 * np.tanh(raw), atol=1e-4)

  @parameterized.parameters(True, False)
  def test_what_is_sampled_has_the_probability_that_it_was_drawn_with(
    self, additive
  ):
    # Without noise the likeliest is chosen: so it is in the other way, too.
    network = _network(additive=additive)
    encoded = network.encode(self.features)
    chosen = network.sample(encoded, self.legal, 0 * self.noise)
    rows = tf.reshape(chosen, [-1, _GROUPS])
    log_probs = network.log_probs(encoded, self.legal, rows)
    np.testing.assert_array_equal(tf.argmax(log_probs, axis=-1), rows)

  def test_the_same_noise_chooses_the_same_step_by_step_and_at_once(self):
    network = _network()
    encoded = network.encode(self.features)
    chosen = network.sample(encoded, self.legal, self.noise)
    rows = tf.reshape(chosen, [-1, _GROUPS])
    log_probs = network.log_probs(encoded, self.legal, rows).numpy()
    noise = self.noise.numpy().transpose(1, 2, 0, 3)
    picked = (log_probs + noise.reshape(log_probs.shape)).argmax(axis=-1)
    np.testing.assert_array_equal(picked, rows)

  def test_samples_are_legal(self):
    network = _network()
    chosen = network.sample(
      network.encode(self.features), self.legal, self.noise
    ).numpy()
    for sequence in range(_SEQUENCES):
      allowed = self.legal[sequence][np.arange(_GROUPS), chosen[sequence]]
      self.assertTrue(allowed.all())

  def test_probabilities_add_up_to_one_over_all_placements(self):
    network = _network()
    encoded = network.encode(self.features[:1])
    every = np.array(list(np.ndindex(*[_DEVICES] * _GROUPS)), np.int32)
    log_probs = network.log_probs(encoded, self.legal[:1], every)
    each = tf.reduce_sum(masked.log_prob_of(log_probs, every), axis=1)
    self.assertAlmostEqual(float(tf.reduce_sum(tf.exp(each))), 1.0, places=4)

  def test_at_first_every_legal_device_is_as_likely(self):
    network = placer_network.PlacerNetwork(
      6, _DEVICES, _SIZES, initializers.TruncatedNormal(1)
    )
    log_probs = network.log_probs(
      network.encode(self.features), self.legal, tf.zeros([2, 5], tf.int32)
    )
    expected = self.legal / self.legal.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(tf.exp(log_probs), expected, atol=1e-6)

  def test_a_decision_depends_on_those_before_it_only(self):
    network = _network()
    encoded = network.encode(self.features[:1])
    free = np.ones((1, _GROUPS, _DEVICES), bool)
    one, other = np.zeros((2, 1, _GROUPS), np.int32)
    other[0, 2] = 1
    before = network.log_probs(encoded, free, one).numpy()[0]
    after = network.log_probs(encoded, free, other).numpy()[0]
    np.testing.assert_allclose(before[:3], after[:3], atol=1e-6)
    self.assertGreater(np.abs(before[3:] - after[3:]).max(), 1e-4)

  def test_attention_can_be_looked_at(self):
    network = _network()
    found = network.attention(
      network.encode(self.features), tf.zeros([4, _GROUPS], tf.int32)
    )
    self.assertEqual(found.shape, [4, _GROUPS, _GROUPS])
    np.testing.assert_allclose(tf.reduce_sum(found, axis=-1), 1.0, atol=1e-5)


if __name__ == '__main__':
  absltest.main()
