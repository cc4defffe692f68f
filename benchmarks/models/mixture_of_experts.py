"""Mixture of experts: parallel MLP towers, weighted by a gate.

Inputs
  features: float32 `[B, features]`.
  labels: int32 `[B]`, in [0, classes); training only.
Outputs
  logits: float32 `[B, classes]`.

The gate is soft (Jacobs et al. 1991): every tower sees every example, so all
shapes are static and the towers cost the same. They share nothing but the
input and the weighted sum, which makes this the plainest case for placement:
the best split is one in equal numbers of towers.
"""

import dataclasses
import functools

import tensorflow as tf

from benchmarks.models import base
from benchmarks.models import meta_graph
from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import dense
from benchmarks.models.layers import token_loss

OPTIMIZER = functools.partial(meta_graph.MOMENTUM, learning_rate=0.01)


@dataclasses.dataclass(frozen=True)
class Config:
  """Sizes.

  Attributes:
    towers: Experts.
    layers: Layers of a tower.
    features: Width of the input.
    hidden: Width of the towers' layers.
    classes: Width of the output.
  """

  towers: int = 8
  layers: int = 2
  features: int = 1024
  hidden: int = 1024
  classes: int = 100


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
  features = tf.compat.v1.placeholder(
    tf.float32, (batch_size, config.features), 'features'
  )
  inputs = {'features': features}
  with tf.name_scope('gate'):
    scores = dense.apply(weights, 'gate/dense', features, config.towers)
    shares = tf.split(tf.nn.softmax(scores), config.towers, axis=1)
  towers = []
  for k, share in enumerate(shares):
    with tf.name_scope(f'tower_{k}'):
      rows = features
      for j in range(config.layers):
        path = f'tower_{k}/layer_{j}'
        rows = dense.apply(weights, path, rows, config.hidden, relu=True)
      towers.append(tf.multiply(rows, share, name='weighted'))
  with tf.name_scope('combine'):
    combined = tf.add_n(towers)
  logits = dense.apply(weights, 'logits', combined, config.classes)
  if not training:
    return meta_graph.Forward(inputs, {'logits': logits})
  labels = tf.compat.v1.placeholder(tf.int32, (batch_size,), 'labels')
  loss = token_loss.apply(labels, logits)
  return meta_graph.Forward(inputs | {'labels': labels}, {}, loss)


MODELS = (
  base.Model(
    'mixture_of_experts',
    '8 parallel towers of 2 dense layers of 1024, and a gate',
    256,
    functools.partial(build, Config()),
  ),
)
