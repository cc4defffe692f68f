"""NASNet-A (Zoph et al. 2018), Mobile and Large; see `keras_application`.

Each cell has five pairs of parallel branches and reads the two cells before
it, so more ops can run at once than in any other built-in model, most of them
small. NASNet-Large is the largest graph here. Its default batch is 1 image of
331 x 331, which two CPU cores run in 0.5 s and train on in 1.7 s; 8 images
would make a search wait for hours.
"""

import functools

import keras

from benchmarks.models import base
from benchmarks.models import keras_application

MODELS = (
  base.Model(
    'nasnet_mobile',
    'NASNet-A Mobile on 224 x 224 images: many small parallel ops',
    8,
    functools.partial(keras_application.build, keras.applications.NASNetMobile),
  ),
  base.Model(
    'nasnet_large',
    'NASNet-A Large on 331 x 331 images: the largest graph',
    1,
    functools.partial(keras_application.build, keras.applications.NASNetLarge),
  ),
)
