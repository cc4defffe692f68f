"""The ptb family: language models of recurrent cells sampled as ENAS does.

Inputs
  tokens: int32 `[B, steps]`, in [0, vocabulary).
  labels: int32 `[B, steps]`, the next token at each step.

A cell (ENAS, Pham et al. 2018, section 2.2) is a tree of nodes. Node 0 reads
the step's input x and the state h before it; every other node reads one of the
nodes before it. Each has an activation f, one of `ACTIVATIONS`, and a highway
gate (Zilly et al. 2017), both halves of one matrix product:

  node 0:  c, g = split([x, h] @ W_0);  out_0 = h + sigmoid(c) * (f(g) - h)
  node k:  c, g = split(y @ W_k);       out_k = y + sigmoid(c) * (f(g) - y)

with y the output of the node that node k reads.

The state that goes on is the mean of the nodes that no node reads.

Unrolled step by step with embedding and softmax inside the step. What varies in
the family is the tree with its activations, the batch size and the number of
steps (papers.md, section 1).

The cell has 12 nodes, as in ENAS, and there are the 10,000 words of Penn
Treebank. A width of 256 lets the largest step fit into one K80 (6.1 of 10.7 GB
in simulation), with cell and softmax about equally costly.
"""

import dataclasses
import functools

import tensorflow as tf

from benchmarks.families import base
from benchmarks.families import draws as draws_lib
from benchmarks.models import meta_graph
from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import dense
from benchmarks.models.layers import embedding
from benchmarks.models.layers import token_loss

ACTIVATIONS = {
  'tanh': tf.tanh,
  'relu': tf.nn.relu,
  'sigmoid': tf.sigmoid,
  'identity': tf.identity,
}
BATCH_SIZES = (1536, 3072)
STEPS = (25, 40)

OPTIMIZER = functools.partial(meta_graph.MOMENTUM, learning_rate=0.3)


@dataclasses.dataclass(frozen=True)
class Node:
  """One node of a cell.

  Attributes:
    parent: Index of the node that it reads; -1 for node 0.
    activation: A key of `ACTIVATIONS`.
  """

  parent: int
  activation: str


Cell = tuple[Node, ...]


@dataclasses.dataclass(frozen=True)
class Config:
  """One member.

  Attributes:
    cell: Its design.
    batch_size: Sequences a step.
    steps: Time steps that are unrolled.
    hidden: Width of the state and of the embedding.
    vocabulary: Tokens.
  """

  cell: Cell
  batch_size: int
  steps: int
  hidden: int = 256
  vocabulary: int = 10_000


def sample(draws: draws_lib.Draws) -> Config:
  """Returns a member drawn at random."""
  return Config(
    cell=sample_cell(draws),
    batch_size=draws.integer(*BATCH_SIZES),
    steps=draws.integer(*STEPS),
  )


def sample_cell(draws: draws_lib.Draws, nodes: int = 12) -> Cell:
  """Returns a design drawn at random, all choices alike likely.

  Args:
    draws: Where the choices come from.
    nodes: How many nodes it has; 12 in ENAS.
  """
  activations = tuple(ACTIVATIONS)
  return tuple(
    Node(
      parent=draws.integer(0, k - 1) if k else -1,
      activation=draws.choice(activations),
    )
    for k in range(nodes)
  )


def build(config: Config) -> tf.compat.v1.MetaGraphDef:
  """Returns one training step; see `benchmarks/models/meta_graph.py`."""
  return meta_graph.build(
    functools.partial(_forward, config), training=True, optimizer_fn=OPTIMIZER
  )


def _forward(
  config: Config, weights: weights_lib.Weights
) -> meta_graph.Forward:
  shape = (config.batch_size, config.steps)
  inputs = {
    name: tf.compat.v1.placeholder(tf.int32, shape, name)
    for name in ('tokens', 'labels')
  }
  columns = {k: tf.unstack(v, axis=1) for k, v in inputs.items()}
  with tf.name_scope('initial_state'):
    state = tf.zeros([config.batch_size, config.hidden])
  losses = []
  for t, (tokens, labels) in enumerate(
    zip(columns['tokens'], columns['labels'], strict=True)
  ):
    with tf.name_scope(f'step_{t}'):
      embedded = embedding.apply(
        weights, 'embedding', tokens, config.vocabulary, config.hidden
      )
      with tf.name_scope('cell'):
        state = _cell(weights, config.cell, embedded, state)
      logits = dense.apply(weights, 'softmax', state, config.vocabulary)
      losses.append(token_loss.apply(labels, logits))
  return meta_graph.Forward(inputs, {}, token_loss.mean(losses))


def _cell(
  weights: weights_lib.Weights, cell: Cell, inputs: tf.Tensor, state: tf.Tensor
) -> tf.Tensor:
  """Returns the new state, float32 of the state's shape `[B, hidden]`."""
  hidden = int(state.shape[-1])
  outputs = []
  for k, node in enumerate(cell):
    with tf.name_scope(f'node_{k}'):
      carried = outputs[node.parent] if k else state
      read = carried if k else tf.concat([inputs, state], axis=1)
      width = int(read.shape[-1])
      kernel = weights(
        f'cell/node_{k}/kernel',
        (width, 2 * hidden),
        weights_lib.scaled(width),
      )
      gate, value = tf.split(tf.matmul(read, kernel), 2, axis=1)
      change = ACTIVATIONS[node.activation](value) - carried
      outputs.append(carried + tf.sigmoid(gate) * change)
  parents = {node.parent for node in cell}
  leaves = [v for k, v in enumerate(outputs) if k not in parents]
  with tf.name_scope('output'):
    return tf.add_n(leaves) / len(leaves)


FAMILY = base.Family(
  name='ptb',
  summary='recurrent cells sampled as ENAS does, batch 1536 to 3072, '
  '25 to 40 steps',
  max_groups=128,
  sample=sample,
  build=build,
)
