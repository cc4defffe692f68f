"""The cifar10 family: image classifiers of cells sampled as ENAS does.

Inputs
  images: float32 `[B, size, size, 3]`.
  labels: int32 `[B]`, in [0, classes).

A cell (ENAS, Pham et al. 2018, section 2.3) has two inputs, what the two cells
before it gave, and `nodes` nodes. A node chooses two of the inputs and of the
nodes before it and an op for each, and adds the results up:

  separable_3x3, separable_5x5: ReLU, depthwise and pointwise convolution,
    batch normalisation, all twice
  average_3x3, max_3x3: pooling
  identity

What no node reads is concatenated to the cell's output. In a reduction cell,
ops on the cell's inputs have stride 2, there is no identity of stride 2 (it
becomes a 1x1 convolution), and channels double. A 1x1 convolution brings each
input of a cell to the cell's channels and size.

The network is a 3x3 convolution, then `stages` runs of `repeats` normal cells
with a reduction cell between two runs, mean over the image, a dense layer.
Normal cells are all of one design, reduction cells of another; what varies in
the family is the two designs and the batch size (papers.md, section 1).

Sizes are such that a step of every member fits into one K80: 2.9 to 8.2 of its
10.7 GB in simulation.
"""

import dataclasses
import functools

import tensorflow as tf

from benchmarks.families import base
from benchmarks.families import draws as draws_lib
from benchmarks.families.layers import batch_norm
from benchmarks.families.layers import convolution
from benchmarks.models import meta_graph
from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import dense
from benchmarks.models.layers import token_loss

OPS = (
  'separable_3x3',
  'separable_5x5',
  'average_3x3',
  'max_3x3',
  'identity',
)
BATCH_SIZES = (240, 360)

OPTIMIZER = functools.partial(meta_graph.MOMENTUM, learning_rate=0.02)


@dataclasses.dataclass(frozen=True)
class Node:
  """One node of a cell.

  Attributes:
    inputs: Two indices: 0 is the cell before the last, 1 the last cell, 2 the
      first node of this one.
    ops: What is done to each, of `OPS`.
  """

  inputs: tuple[int, int]
  ops: tuple[str, str]


Cell = tuple[Node, ...]


@dataclasses.dataclass(frozen=True)
class Config:
  """One member.

  Attributes:
    normal: Design of the cells that keep the size.
    reduction: Design of the cells that halve it.
    batch_size: Images a step.
    channels: Of the first cells; they double at each reduction.
    stages: Runs of normal cells.
    repeats: Normal cells a run.
    size: Height and width of an image.
    classes: Width of the output.
  """

  normal: Cell
  reduction: Cell
  batch_size: int
  channels: int = 24
  stages: int = 3
  repeats: int = 2
  size: int = 32
  classes: int = 10


def sample(draws: draws_lib.Draws) -> Config:
  """Returns a member drawn at random."""
  return Config(
    normal=sample_cell(draws),
    reduction=sample_cell(draws),
    batch_size=draws.integer(*BATCH_SIZES),
  )


def sample_cell(draws: draws_lib.Draws, nodes: int = 5) -> Cell:
  """Returns a design drawn at random, all choices alike likely.

  Args:
    draws: Where the choices come from.
    nodes: How many nodes it has; 5 in ENAS.
  """
  return tuple(
    Node(
      inputs=(draws.integer(0, k + 1), draws.integer(0, k + 1)),
      ops=(draws.choice(OPS), draws.choice(OPS)),
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
  shape = (config.batch_size, config.size, config.size, 3)
  images = tf.compat.v1.placeholder(tf.float32, shape, 'images')
  labels = tf.compat.v1.placeholder(tf.int32, shape[:1], 'labels')
  network = _Network(weights)
  previous = last = network.stem(images, config.channels)
  channels = config.channels
  kinds = (['normal'] * config.repeats + ['reduction']) * config.stages
  for i, kind in enumerate(kinds[:-1]):
    if kind == 'reduction':
      channels *= 2
    with tf.name_scope(f'cell_{i}'):
      outputs = network.cell(
        f'cell_{i}',
        getattr(config, kind),
        (previous, last),
        channels,
        stride=2 if kind == 'reduction' else 1,
      )
    previous, last = last, outputs
  with tf.name_scope('pool'):
    features = tf.reduce_mean(tf.nn.relu(last), axis=[1, 2])
  logits = dense.apply(weights, 'logits', features, config.classes)
  return meta_graph.Forward(
    {'images': images, 'labels': labels},
    {},
    token_loss.apply(labels, logits),
    network.updates,
  )


class _Network:
  """The layers of one network.

  Attributes:
    updates: New moving averages by weight name.
  """

  def __init__(self, weights: weights_lib.Weights):
    self.updates: dict[str, tf.Tensor] = {}
    self._weights = weights

  def stem(self, images: tf.Tensor, channels: int) -> tf.Tensor:
    """Returns the first convolution, float32 `[B, size, size, channels]`."""
    initializer = weights_lib.scaled(27)
    kernel = self._weights('stem/kernel', (3, 3, 3, channels), initializer)
    with tf.name_scope('stem'):
      outputs = tf.nn.conv2d(images, kernel, strides=1, padding='SAME')
      return batch_norm.apply(self._weights, self.updates, 'stem/norm', outputs)

  def cell(
    self,
    path: str,
    design: Cell,
    inputs: tuple[tf.Tensor, tf.Tensor],
    channels: int,
    stride: int,
  ) -> tf.Tensor:
    """Returns a cell's output, `[B, height, width, k * channels]`."""
    size = int(inputs[1].shape[1])
    values = [
      self._fit(f'{path}/input_{i}', value, size, channels)
      for i, value in enumerate(inputs)
    ]
    for k, node in enumerate(design):
      with tf.name_scope(f'node_{k}'):
        terms = [
          self._op(
            f'{path}/node_{k}/{side}_{op}',
            op,
            values[source],
            stride if source < 2 else 1,
          )
          for side, source, op in zip('ab', node.inputs, node.ops, strict=True)
        ]
        values.append(tf.add(*terms, name='sum'))
    read = {source for node in design for source in node.inputs}
    loose = [v for i, v in enumerate(values) if i >= 2 and i not in read]
    return tf.concat(loose, axis=3, name='output')

  def _fit(
    self, path: str, inputs: tf.Tensor, size: int, channels: int
  ) -> tf.Tensor:
    """Returns the inputs at a size and a number of channels."""
    stride = 1 if int(inputs.shape[1]) == size else 2
    return convolution.pointwise(
      self._weights, self.updates, path, inputs, channels, stride
    )

  def _op(
    self, path: str, op: str, inputs: tf.Tensor, stride: int
  ) -> tf.Tensor:
    """Returns what one of `OPS` makes of a float32 `[B, h, w, C]`."""
    if op.startswith('separable'):
      return convolution.separable(
        self._weights, self.updates, path, inputs, int(op[-1]), stride
      )
    name = path.rsplit('/', 1)[-1]
    if op == 'average_3x3':
      return tf.nn.avg_pool2d(inputs, 3, stride, 'SAME', name=name)
    if op == 'max_3x3':
      return tf.nn.max_pool2d(inputs, 3, stride, 'SAME', name=name)
    if stride == 1:
      return tf.identity(inputs, name=name)
    return convolution.pointwise(
      self._weights, self.updates, path, inputs, int(inputs.shape[-1]), stride
    )


FAMILY = base.Family(
  name='cifar10',
  summary='convolutional cells sampled as ENAS does, batch 240 to 360',
  max_groups=128,
  sample=sample,
  build=build,
)
