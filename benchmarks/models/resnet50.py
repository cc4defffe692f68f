"""ResNet-50 (He et al. 2016), 224 x 224; see `keras_application`.

A chain: nothing but the four projection shortcuts is parallel. One device is
the right answer where the model fits it.
"""

import functools

import keras

from benchmarks.models import base
from benchmarks.models import keras_application

MODELS = (
  base.Model(
    'resnet50',
    'ResNet-50 on 224 x 224 images: a chain of layers',
    8,
    functools.partial(keras_application.build, keras.applications.ResNet50),
  ),
)
