"""RNNLM: a language model of LSTM layers (Zaremba et al. 2014; HP's RNNLM).

Inputs
  tokens: int32 `[B, steps]`, in [0, vocabulary).
  labels: int32 `[B, steps]`, the next token at each step; training only.
Outputs
  logits: float32 `[B, steps, vocabulary]`.

Unrolled step by step with the layers inside the step (see `lstm_stack`), the
embedding and the softmax too, so a pipeline over the layers can fill. In the
backward pass it can as well, but each weight's gradient is the sum of `steps`
terms, which wait for each other in memory: `steps` times the kernels' bytes.

No dropout and no clipping: the step has no random op and no sum over all
gradients that would hold every update back.
"""

import dataclasses
import functools

import tensorflow as tf

from benchmarks.models import base
from benchmarks.models import meta_graph
from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import dense
from benchmarks.models.layers import embedding
from benchmarks.models.layers import lstm_stack
from benchmarks.models.layers import token_loss

OPTIMIZER = functools.partial(meta_graph.MOMENTUM, learning_rate=0.3)


@dataclasses.dataclass(frozen=True)
class Config:
  """Sizes.

  Attributes:
    layers: LSTM layers.
    hidden: Their width, and the embedding's.
    steps: Time steps that are unrolled.
    vocabulary: Tokens.
  """

  layers: int = 4
  hidden: int = 1024
  steps: int = 20
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
  shape = (batch_size, config.steps)
  inputs = {'tokens': tf.compat.v1.placeholder(tf.int32, shape, 'tokens')}
  if training:
    inputs['labels'] = tf.compat.v1.placeholder(tf.int32, shape, 'labels')
  columns = {k: tf.unstack(v, axis=1) for k, v in inputs.items()}
  stack = lstm_stack.LstmStack(weights, config.hidden, config.layers)
  states = stack.zero_states(batch_size)
  steps, losses = [], []
  for t in range(config.steps):
    with tf.name_scope(f'step_{t}'):
      embedded = embedding.apply(
        weights,
        'embedding',
        columns['tokens'][t],
        config.vocabulary,
        config.hidden,
      )
      outputs, states = stack(embedded, states)
      logits = dense.apply(weights, 'softmax', outputs, config.vocabulary)
      steps.append(logits)
      if training:
        losses.append(token_loss.apply(columns['labels'][t], logits))
  if training:
    return meta_graph.Forward(inputs, {}, token_loss.mean(losses))
  return meta_graph.Forward(
    inputs, {'logits': tf.stack(steps, axis=1, name='logits')}
  )


MODELS = (
  base.Model(
    'rnnlm',
    'LSTM language model: 4 layers of 1024, 20 steps, 10,000 tokens',
    32,
    functools.partial(build, Config()),
  ),
)
