"""The nmt family: translation models of other sizes than the built-in one.

The built-in NMT model (`benchmarks/models/nmt.py`) with two layers; what varies
is the batch size and the number of steps, which is that of encoder and decoder
(papers.md, section 1).
"""

import dataclasses

import tensorflow as tf

from benchmarks.families import base
from benchmarks.families import draws as draws_lib
from benchmarks.models import nmt as model

BATCH_SIZES = (64, 128)
STEPS = (16, 32)


@dataclasses.dataclass(frozen=True)
class Config:
  """One member.

  Attributes:
    model: Sizes of the model.
    batch_size: Sentences a step.
  """

  model: model.Config
  batch_size: int


def sample(draws: draws_lib.Draws) -> Config:
  """Returns a member drawn at random."""
  batch_size = draws.integer(*BATCH_SIZES)
  steps = draws.integer(*STEPS)
  return Config(
    model.Config(layers=2, source_steps=steps, target_steps=steps), batch_size
  )


def build(config: Config) -> tf.compat.v1.MetaGraphDef:
  """Returns one training step; see `benchmarks/models/meta_graph.py`."""
  return model.build(config.model, config.batch_size, training=True)


FAMILY = base.Family(
  name='nmt',
  summary='LSTM translation with attention: 2 + 2 layers, batch 64 to 128, '
  '16 to 32 steps',
  max_groups=160,
  sample=sample,
  build=build,
)
