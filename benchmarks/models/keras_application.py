"""A model of `keras.applications` as a MetaGraphDef.

Inputs
  images: float32 `[B, height, width, 3]`, the model's own size.
  labels: int32 `[B]`, in [0, 1000); training only.
Outputs
  probabilities: float32 `[B, 1000]`.

Keras' layers are called in a plain graph, within a `StatelessScope` that maps
each Keras variable to a weight of ours, and the moving averages' new values
are taken from that scope. So there is no tf.function, hence no function to
inline and no captured variable to convert, and the variables of Keras
themselves are never allocated. Ops keep the layers' names
(`conv2d_36/convolution`), and weights Keras' paths (`conv2d_36/kernel`).

Batch normalisation is Keras 3's: separate ops with the input `[B, h, w, C]` in
most of them, no fused kernel. In training, the update of the moving averages
is a part of the step.
"""

import functools
from collections.abc import Callable, Collection

import keras
import tensorflow as tf

from benchmarks.models import meta_graph
from benchmarks.models import weights as weights_lib
from benchmarks.models.layers import token_loss

# At ten times this rate, ResNet-50's loss goes up and down on a few images.
OPTIMIZER = functools.partial(meta_graph.MOMENTUM, learning_rate=0.001)


class _LayerScopes(tf.Graph):
  """A graph in which a layer's name scope, entered again, goes on.

  Keras enters it twice, to build and to call the layer, and TensorFlow would
  name the second one `conv2d_1`, as the next layer. The names in a scope stay
  unique.
  """

  def __init__(self, layers: Collection[str]):
    super().__init__()
    self._layers = frozenset(layers)

  def unique_name(self, name: str, mark_as_used: bool = True) -> str:
    """See `tf.Graph`."""
    if name in self._layers and not self.get_name_scope():
      return name
    return super().unique_name(name, mark_as_used)


def build(
  application: Callable[..., keras.Model], batch_size: int, training: bool
) -> tf.compat.v1.MetaGraphDef:
  """Returns one step; see `meta_graph` for what is in it.

  Args:
    application: One of `keras.applications`, such as `ResNet50`.
    batch_size: Images a step.
    training: Whether the step trains.
  """
  keras.utils.clear_session()  # Layers are numbered from 0 again.
  with keras.StatelessScope(initialize_variables=False):
    model = application(
      weights=None, classifier_activation=None if training else 'softmax'
    )
  forward = functools.partial(_forward, model, batch_size, training)
  graph = _LayerScopes([layer.name for layer in model.layers])
  meta_graph_def = meta_graph.build(
    forward, training=training, optimizer_fn=OPTIMIZER, graph=graph
  )
  # Keras still plans to allocate the model's variables: let it forget.
  keras.utils.clear_session()
  return meta_graph_def


def _forward(
  model: keras.Model,
  batch_size: int,
  training: bool,
  weights: weights_lib.Weights,
) -> meta_graph.Forward:
  shape = (batch_size, *model.input_shape[1:])
  images = tf.compat.v1.placeholder(tf.float32, shape, 'images')
  tensors = {
    variable.path: weights(
      variable.path,
      tuple(variable.shape),
      _initializer(variable.path, tuple(variable.shape)),
      trainable=variable.trainable,
    )
    for variable in model.variables
  }
  mapping = [(v, tensors[v.path]) for v in model.variables]
  with keras.StatelessScope(mapping, initialize_variables=False) as scope:
    # `model(...)` would put the model's name before each layer's.
    outputs = model.call(images, training=training)
  if not training:
    return meta_graph.Forward({'images': images}, {'probabilities': outputs})
  labels = tf.compat.v1.placeholder(tf.int32, (batch_size,), 'labels')
  updates = {
    v.path: scope.get_current_value(v) for v in model.non_trainable_variables
  }
  return meta_graph.Forward(
    {'images': images, 'labels': labels},
    {},
    token_loss.apply(labels, outputs),
    updates,
  )


def _initializer(path: str, shape: tuple[int, ...]) -> weights_lib.Initializer:
  """Returns how a Keras variable starts: He's rule, or ones, or zeros."""
  name = path.rsplit('/', 1)[-1]
  if name in ('gamma', 'moving_variance'):
    return weights_lib.ONES
  if len(shape) < 2:
    return weights_lib.ZEROS
  inputs = shape[:2] if name == 'depthwise_kernel' else shape[:-1]
  fan_in = functools.reduce(int.__mul__, inputs)
  return weights_lib.scaled(fan_in, gain=2.0)
