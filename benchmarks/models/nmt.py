"""NMT: translation, LSTM encoder and decoder with attention (HP's NMT).

Inputs
  source: int32 `[B, source_steps]`, in [0, vocabulary).
  target: int32 `[B, target_steps]`, the decoder's input tokens.
  labels: int32 `[B, target_steps]`, the tokens to predict; training only.
Outputs
  logits: float32 `[B, target_steps, vocabulary]`.

Encoder and decoder have `layers` LSTM layers each, unrolled step by step with
the layers inside the step (see `lstm_stack`). From the third layer on (GNMT,
Wu et al. 2016) a layer's input is added to its output.

Attention is Luong et al.'s (2015), "general" score, over the top layer's
output and without input feeding; the decoder reads the given target tokens
(scoring, teacher forcing) in both modes. So no decoder layer waits for the
attention or the softmax of the step before, and the only place where all
meets is the encoder's memory: the first attention waits for the encoder's last
top output, the decoder's layers do not (layer `k` starts from the encoder's
layer `k`).
"""

import dataclasses
import functools
from collections.abc import Sequence

import tensorflow as tf

from benchmarks.models import base
from benchmarks.models import meta_graph
from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import attention
from benchmarks.models.layers import dense
from benchmarks.models.layers import embedding
from benchmarks.models.layers import lstm_stack
from benchmarks.models.layers import token_loss

FIRST_RESIDUAL = 2

OPTIMIZER = functools.partial(meta_graph.MOMENTUM, learning_rate=0.3)


@dataclasses.dataclass(frozen=True)
class Config:
  """Sizes.

  Attributes:
    layers: LSTM layers in the encoder, and as many in the decoder.
    hidden: Their width, and the embeddings'.
    source_steps: Time steps of the encoder.
    target_steps: Time steps of the decoder.
    vocabulary: Tokens of either language.
  """

  layers: int = 2
  hidden: int = 512
  source_steps: int = 16
  target_steps: int = 16
  vocabulary: int = 10_000


def build(
  config: Config, batch_size: int, training: bool
) -> tf.compat.v1.MetaGraphDef:
  """Returns one step; see `meta_graph` for what is in it."""
  forward = functools.partial(_forward, config, batch_size, training)
  return meta_graph.build(
    forward, training=training, optimizer_fn=OPTIMIZER, frozen=False
  )


def _forward(
  config: Config,
  batch_size: int,
  training: bool,
  weights: weights_lib.Weights,
) -> meta_graph.Forward:
  lengths = {'source': config.source_steps, 'target': config.target_steps}
  if training:
    lengths['labels'] = config.target_steps
  inputs = {
    name: tf.compat.v1.placeholder(tf.int32, (batch_size, length), name)
    for name, length in lengths.items()
  }
  columns = {k: tf.unstack(v, axis=1) for k, v in inputs.items()}
  with tf.name_scope('encoder'):
    memory, states = _encode(config, weights, columns['source'], batch_size)
  with tf.name_scope('decoder'):
    steps = _decode(config, weights, columns['target'], memory, states)
  if not training:
    logits = tf.stack(steps, axis=1, name='logits')
    return meta_graph.Forward(inputs, {'logits': logits})
  losses = []
  for t, (labels, logits) in enumerate(
    zip(columns['labels'], steps, strict=True)
  ):
    with tf.name_scope(f'decoder/step_{t}/'):
      losses.append(token_loss.apply(labels, logits))
  return meta_graph.Forward(inputs, {}, token_loss.mean(losses))


def _encode(
  config: Config,
  weights: weights_lib.Weights,
  tokens: Sequence[tf.Tensor],
  batch_size: int,
) -> tuple[attention.Memory, list[lstm_stack.State]]:
  """Returns what the decoder attends to and what it starts from."""
  stack = _stack(config, weights, 'encoder/')
  states = stack.zero_states(batch_size)
  outputs = []
  for t, token in enumerate(tokens):
    with tf.name_scope(f'step_{t}'):
      embedded = _embed(config, weights, 'encoder/embedding', token)
      top, states = stack(embedded, states)
      outputs.append(top)
  return attention.memory(weights, 'encoder/memory', outputs), states


def _decode(
  config: Config,
  weights: weights_lib.Weights,
  tokens: Sequence[tf.Tensor],
  memory: attention.Memory,
  states: list[lstm_stack.State],
) -> list[tf.Tensor]:
  """Returns each step's logits, float32 `[B, vocabulary]`."""
  stack = _stack(config, weights, 'decoder/')
  steps = []
  for t, token in enumerate(tokens):
    with tf.name_scope(f'step_{t}'):
      embedded = _embed(config, weights, 'decoder/embedding', token)
      top, states = stack(embedded, states)
      attended = attention.apply(weights, 'decoder/attention', top, memory)
      steps.append(
        dense.apply(weights, 'decoder/softmax', attended, config.vocabulary)
      )
  return steps


def _stack(
  config: Config, weights: weights_lib.Weights, path: str
) -> lstm_stack.LstmStack:
  return lstm_stack.LstmStack(
    weights,
    config.hidden,
    config.layers,
    path=path,
    first_residual=FIRST_RESIDUAL,
  )


def _embed(
  config: Config, weights: weights_lib.Weights, path: str, tokens: tf.Tensor
) -> tf.Tensor:
  return embedding.apply(
    weights, path, tokens, config.vocabulary, config.hidden
  )


def _model(layers: int) -> base.Model:
  return base.Model(
    f'nmt_{layers}',
    f'LSTM translation with attention: {layers} + {layers} layers of 512, '
    '16 + 16 steps, 10,000 tokens',
    32,
    functools.partial(build, Config(layers=layers)),
  )


MODELS = tuple(_model(layers) for layers in (2, 4, 8))
