"""Transformer encoder (Vaswani et al. 2017) that predicts a token a position.

Inputs
  tokens: int32 `[B, length]`, in [0, vocabulary).
  labels: int32 `[B, length]`, the tokens to predict; training only.
Outputs
  logits: float32 `[B, length, vocabulary]`.

Normalisation comes before each half of a layer (pre-LN), positions are learnt,
no dropout. The layers are a chain: within one, only query, key and value are
parallel, so splitting it over devices gains little beyond memory. Rows of all
positions are one matrix `[B * length, hidden]` between the layers.
"""

import dataclasses
import functools

import tensorflow as tf

from benchmarks.models import base
from benchmarks.models import meta_graph
from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import dense
from benchmarks.models.layers import embedding
from benchmarks.models.layers import layer_norm
from benchmarks.models.layers import token_loss

OPTIMIZER = functools.partial(meta_graph.ADAM, learning_rate=3e-4)


@dataclasses.dataclass(frozen=True)
class Config:
  """Sizes.

  Attributes:
    layers: Encoder layers.
    hidden: Width between them.
    heads: Attention heads; divides `hidden`.
    inner: Width inside the feed-forward half.
    length: Tokens of an example.
    vocabulary: Tokens.
  """

  layers: int = 6
  hidden: int = 512
  heads: int = 8
  inner: int = 2048
  length: int = 128
  vocabulary: int = 10_000


def build(
  config: Config, batch_size: int, training: bool
) -> tf.compat.v1.MetaGraphDef:
  """Returns one step; see `meta_graph` for what is in it."""
  forward = functools.partial(_forward, config, batch_size, training)
  return meta_graph.build(forward, training=training, optimizer_fn=OPTIMIZER)


def _forward(
  config: Config,
  batch_size: int,
  training: bool,
  weights: weights_lib.Weights,
) -> meta_graph.Forward:
  shape = (batch_size, config.length)
  inputs = {'tokens': tf.compat.v1.placeholder(tf.int32, shape, 'tokens')}
  if training:
    inputs['labels'] = tf.compat.v1.placeholder(tf.int32, shape, 'labels')
  rows = _embed(config, weights, inputs['tokens'])
  for k in range(config.layers):
    with tf.name_scope(f'layer_{k}'):
      path = f'layer_{k}'
      normal = layer_norm.apply(weights, f'{path}/attention_norm', rows)
      rows += _attend(config, weights, f'{path}/attention', normal)
      normal = layer_norm.apply(weights, f'{path}/feed_forward_norm', rows)
      rows += _feed_forward(config, weights, f'{path}/feed_forward', normal)
  rows = layer_norm.apply(weights, 'final_norm', rows)
  logits = dense.apply(weights, 'softmax', rows, config.vocabulary)
  if training:
    labels = tf.reshape(inputs['labels'], [-1])
    return meta_graph.Forward(inputs, {}, token_loss.apply(labels, logits))
  logits = tf.reshape(logits, shape + (config.vocabulary,), name='logits')
  return meta_graph.Forward(inputs, {'logits': logits})


def _embed(
  config: Config, weights: weights_lib.Weights, tokens: tf.Tensor
) -> tf.Tensor:
  """Returns the first rows, float32 `[B * length, hidden]`."""
  embedded = embedding.apply(
    weights, 'embedding', tokens, config.vocabulary, config.hidden
  )
  positions = weights(
    'position/table',
    (config.length, config.hidden),
    weights_lib.Initializer(limit=0.1),
  )
  with tf.name_scope('position'):
    return tf.reshape(embedded + positions, [-1, config.hidden])


def _attend(
  config: Config, weights: weights_lib.Weights, path: str, rows: tf.Tensor
) -> tf.Tensor:
  """Returns self-attention's output, float32 `[B * length, hidden]`."""
  width = config.hidden // config.heads
  parts = {}
  with tf.name_scope('attention'):
    for name in ('query', 'key', 'value'):
      part = dense.apply(weights, f'{path}/{name}', rows, config.hidden)
      with tf.name_scope(f'{name}_heads'):
        part = tf.reshape(part, [-1, config.length, config.heads, width])
        parts[name] = tf.transpose(part, [0, 2, 1, 3])
    scores = tf.matmul(
      parts['query'] * width**-0.5, parts['key'], transpose_b=True
    )
    mixed = tf.matmul(tf.nn.softmax(scores), parts['value'])
    joined = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, config.hidden])
    return dense.apply(weights, f'{path}/output', joined, config.hidden)


def _feed_forward(
  config: Config, weights: weights_lib.Weights, path: str, rows: tf.Tensor
) -> tf.Tensor:
  """Returns the feed-forward half's output, float32 `[B * length, hidden]`."""
  with tf.name_scope('feed_forward'):
    inner = dense.apply(weights, f'{path}/inner', rows, config.inner, relu=True)
    return dense.apply(weights, f'{path}/output', inner, config.hidden)


MODELS = (
  base.Model(
    'transformer',
    'Transformer encoder: 6 layers of 512, 8 heads, 128 of 10,000 tokens',
    8,
    functools.partial(build, Config()),
  ),
)
