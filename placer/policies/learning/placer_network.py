"""The placer: a sequence of groups in, a device for each group out.

ColocRL's and HP's network (papers.md §2): a bidirectional LSTM reads the groups
in topological order; an LSTM decides a group a step, with attention over what
was read, and is fed the embedding of the device it chose before.

    encoded = network.encode(features)
    chosen = network.sample(encoded, legal, noise)            # a loop, batched
    log_probs = network.log_probs(encoded, legal, chosen)     # no loop

Letters: `E` sequences (1, or one for each grouping), `K` placements of each,
`S` groups, `F` features, `D` devices, `H` hidden size.

The attention's result goes into the logits, not back into the LSTM. So once the
devices are known the LSTM runs as one kernel and attention as one product over
all steps; only sampling goes step by step.

  scores = v · tanh(W_m m + W_q h)          additive (Bahdanau et al. 2015), or
  scores = (W_m m) · (W_q h) / sqrt(A)      dot product, at our sizes 16 times
                                            less work
  logits = C * tanh(W [context, h] / T)     C the tanh constant, T temperature
"""

import dataclasses
import functools
from typing import NamedTuple

import sonnet as snt
import tensorflow as tf

from placer.policies.learning import additive_attention
from placer.policies.learning import block_lstm
from placer.policies.learning import initializers
from placer.policies.learning import masked


@dataclasses.dataclass(frozen=True)
class PlacerSizes:
  """Sizes of the network.

  Attributes:
    input: what features are projected to, units.
    hidden: H, of each direction of the encoder and of the decoder (HP: 256).
    attention: A, units of the attention's score (HP: 256).
    additive: Bahdanau's score; else the dot product.
    device_embedding: units of a device's embedding (HP: 256, as hidden).
    group_input: units in which the decoder also sees the group that it decides
      on; 0 for attention only, as in the papers.
    tanh_constant: C; logits lie in [-C, C] (HP: 5), so no device is less likely
      than exp(-2 C) times another: what is left to explore at the end.
    temperature: T (HP: 10).
  """

  input: int = 64
  hidden: int = 64
  attention: int = 32
  additive: bool = False
  device_embedding: int = 16
  group_input: int = 32
  tanh_constant: float = 2.5
  temperature: float = 1.0

  @classmethod
  def paper(cls) -> 'PlacerSizes':
    """HP (ICLR 2018); ColocRL (ICML 2017) gives none of its own."""
    return cls(
      input=256,
      hidden=256,
      attention=256,
      additive=True,
      device_embedding=256,
      group_input=0,
      tanh_constant=5.0,
      temperature=10.0,
    )


class Encoded(NamedTuple):
  """What was read.

  Attributes:
    memory: float32 `[E, S, 2H]`, encoder states.
    keys: float32 `[E, S, A]`, W_m m.
    inputs: float32 `[E, S, group_input]`.
    state: of the decoder before the first step, `[E, H]`.
  """

  memory: tf.Tensor
  keys: tf.Tensor
  inputs: tf.Tensor
  state: block_lstm.State


class PlacerNetwork(snt.Module):
  """The placer; see the module docstring."""

  def __init__(
    self,
    num_features: int,
    num_devices: int,
    sizes: PlacerSizes,
    initializer: initializers.TruncatedNormal,
  ) -> None:
    """Makes the network and all its variables.

    Args:
      num_features: F.
      num_devices: D.
      sizes: of the layers.
      initializer: of the weights.
    """
    super().__init__()
    self._sizes = sizes
    self._devices = num_devices
    hidden = sizes.hidden
    lstm = functools.partial(block_lstm.BlockLstm, initializer=initializer)
    linear = functools.partial(snt.Linear, w_init=initializer)
    self._project = linear(sizes.input, name='project')
    self._forward = lstm(sizes.input, hidden, name='forward')
    self._backward = lstm(sizes.input, hidden, name='backward')
    self._bridge = linear(2 * hidden, name='bridge')
    self._key = linear(sizes.attention, with_bias=False, name='key')
    self._query = linear(sizes.attention, name='query')
    self._group_input = linear(sizes.group_input, name='group_input')
    self._decoder = lstm(
      sizes.device_embedding + sizes.group_input, hidden, name='decoder'
    )
    # The last row is fed at the first step, when nothing was chosen yet.
    self.embeddings = tf.Variable(
      initializer([num_devices + 1, sizes.device_embedding], stddev=0.1),
      name='device_embeddings',
    )
    self._score = tf.Variable(
      initializer([sizes.attention]), trainable=sizes.additive, name='score'
    )
    # Zero, so that every legal device is as likely as any other at first.
    self._head = snt.Linear(
      num_devices, w_init=snt.initializers.Zeros(), name='head'
    )
    steps = tf.zeros([1, 1, num_features])
    legal = tf.ones([1, 1, num_devices], tf.bool)
    self.log_probs(self.encode(steps), legal, tf.zeros([1, 1], tf.int32))

  def encode(self, features: tf.Tensor) -> Encoded:
    """Reads the groups.

    Args:
      features: float32 `[E, S, F]`.

    Returns:
      The Encoded.
    """
    steps = tf.transpose(tf.nn.relu(self._project(features)), [1, 0, 2])
    start = self._forward.initial_state(tf.shape(features)[0])
    ahead, ahead_end = self._forward(steps, start)
    back, back_end = self._backward(tf.reverse(steps, [0]), start)
    memory = tf.concat([ahead, tf.reverse(back, [0])], axis=-1)
    memory = tf.transpose(memory, [1, 0, 2])
    bridge = tf.tanh(
      self._bridge(tf.concat([ahead_end.hidden, back_end.hidden], axis=-1))
    )
    hidden, cell = tf.split(bridge, 2, axis=-1)
    return Encoded(
      memory=memory,
      keys=self._key(memory),
      inputs=self._group_input(memory),
      state=block_lstm.State(hidden, cell),
    )

  def sample(
    self, encoded: Encoded, legal: tf.Tensor, noise: tf.Tensor
  ) -> tf.Tensor:
    """Chooses devices, one group after the other.

    Args:
      encoded: of `encode`.
      legal: bool `[E, S, D]`, each row with a True.
      noise: float32 `[S, E, K, D]`, a static shape, of `masked.gumbel`; zeros
        for the likeliest device at every step.

    Returns:
      int32 `[E, K, S]`, legal.
    """
    steps, sequences, each, _ = noise.shape
    inputs = tf.transpose(encoded.inputs, [1, 0, 2])
    legal = tf.transpose(legal, [1, 0, 2])[:, :, tf.newaxis]

    def step(index, embedded, hidden, cell, chosen):
      seen = tf.repeat(inputs[index], each, axis=0)
      outputs, state = self._decoder(
        tf.concat([embedded, seen], axis=-1)[tf.newaxis],
        block_lstm.State(hidden, cell),
      )
      outputs = tf.reshape(outputs[0], [sequences, each, self._sizes.hidden])
      logits, _ = self._logits(encoded, outputs)
      picked = masked.pick(masked.mask(logits, legal[index]), noise[index])
      embedded = tf.gather(self.embeddings, tf.reshape(picked, [-1]))
      chosen = chosen.write(index, picked)
      return index + 1, embedded, state.hidden, state.cell, chosen

    batch = sequences * each
    state = self._start(encoded, each)
    first = tf.broadcast_to(
      self.embeddings[-1], [batch, self._sizes.device_embedding]
    )
    chosen = tf.TensorArray(tf.int32, steps, element_shape=[None, None])
    *_, chosen = tf.while_loop(
      lambda index, *_: index < steps,
      step,
      (tf.constant(0), first, state.hidden, state.cell, chosen),
      parallel_iterations=1,
    )
    return tf.transpose(chosen.stack(), [1, 2, 0])

  def log_probs(
    self, encoded: Encoded, legal: tf.Tensor, chosen: tf.Tensor
  ) -> tf.Tensor:
    """Log-probabilities of all devices at each step, given those before.

    Args:
      encoded: of `encode`.
      legal: bool `[E, S, D]`.
      chosen: int32 `[E * K, S]`, a static shape, the placements of each
        sequence in a row.

    Returns:
      float32 `[E * K, S, D]`.
    """
    logits, _ = self._forced(encoded, chosen)
    shape = tf.shape(logits)
    legal = tf.repeat(legal, shape[0] // tf.shape(legal)[0], axis=0)
    return masked.log_probs(logits, legal)

  def attention(self, encoded: Encoded, chosen: tf.Tensor) -> tf.Tensor:
    """What each decision looked at.

    Args:
      encoded: of `encode`.
      chosen: int32 `[E * K, S]`.

    Returns:
      float32 `[E * K, S, S]`: of each step (second axis) the weights of the
      groups (last axis), which add up to 1.
    """
    return self._forced(encoded, chosen)[1]

  def _forced(
    self, encoded: Encoded, chosen: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Logits `[E * K, S, D]` and attention `[E * K, S, S]`, without a loop."""
    batch, steps = chosen.shape
    sequences = encoded.memory.shape[0]
    each = batch // sequences
    before = tf.concat(
      [tf.fill([batch, 1], self._devices), chosen[:, :-1]], axis=1
    )
    # A product, not a gather: its gradient would be a scatter.
    one_hot = tf.one_hot(tf.transpose(before), self._devices + 1)
    embedded = tf.tensordot(one_hot, self.embeddings, 1)
    seen = tf.repeat(tf.transpose(encoded.inputs, [1, 0, 2]), each, axis=1)
    hidden, _ = self._decoder(
      tf.concat([embedded, seen], axis=-1), self._start(encoded, each)
    )
    size = self._sizes.hidden
    queries = tf.reshape(
      tf.transpose(hidden, [1, 0, 2]), [sequences, each * steps, size]
    )
    logits, weights = self._logits(encoded, queries)
    return (
      tf.reshape(logits, [batch, steps, self._devices]),
      tf.reshape(weights, [batch, steps, steps]),
    )

  def _start(self, encoded: Encoded, each: tf.Tensor) -> block_lstm.State:
    return block_lstm.State(
      tf.repeat(encoded.state.hidden, each, axis=0),
      tf.repeat(encoded.state.cell, each, axis=0),
    )

  def _logits(
    self, encoded: Encoded, hidden: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Logits `[E, Q, D]` and attention `[E, Q, S]` of decoder states.

    Args:
      encoded: of `encode`.
      hidden: float32 `[E, Q, H]`.
    """
    sizes = self._sizes
    queries = self._query(hidden)
    if sizes.additive:
      scores = additive_attention.scores(encoded.keys, queries, self._score)
    else:
      scores = tf.matmul(queries, encoded.keys, transpose_b=True)
      scores *= sizes.attention**-0.5
    weights = tf.nn.softmax(scores)
    context = tf.matmul(weights, encoded.memory)
    logits = self._head(tf.concat([context, hidden], axis=-1))
    logits = sizes.tanh_constant * tf.tanh(logits / sizes.temperature)
    return logits, weights
