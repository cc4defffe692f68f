"""Inception-V3 (Szegedy et al. 2016), 299 x 299; see `keras_application`.

Eleven blocks of three or four parallel branches each, joined by ConcatV2: the
branches of one block can run at the same time, blocks cannot.
"""

import functools

import keras

from benchmarks.models import base
from benchmarks.models import keras_application

MODELS = (
  base.Model(
    'inception_v3',
    'Inception-V3 on 299 x 299 images: blocks of parallel branches',
    8,
    functools.partial(keras_application.build, keras.applications.InceptionV3),
  ),
)
