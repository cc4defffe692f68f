"""One step of a model as a MetaGraphDef: the form models are handed on in.

Both modes
  graph_def: A flat graph. No function library and no call of a function, no
    loop, no device. The only attr with an underscore is `_class`, which ties
    what belongs to a variable to it, but no gradient to its forward op. Every
    tensor has a static shape; the batch size stands in the placeholders'
    `shape`. No random op in the step, so two placements of it compute the same
    numbers up to rounding.
  meta_info_def.tags: ('train',) or ('serve',).
  signature_def: The inputs by name, each a placeholder, and the outputs.
    Integer inputs (tokens, labels) are indices: 0 is always in range.

Inference, signature 'serving_default'
  The weights are `Const` nodes where the model is frozen. No variable, no
  collection. Models that read a weight many times (the unrolled ones) are not
  frozen: Grappler's memory optimizer copies a constant for each op that reads
  it, and the first run of a frozen rnnlm takes 45 s and 11 GB. They have the
  collections 'variables', 'trainable_variables' and 'init_op' as in training.

Training, signature 'train'
  One step is forward, loss, backward and update. The signature's only output
  is 'loss', float32 scalar.
  collection 'train_op': node_list of one, the op to run.
  collection 'init_op': node_list of one, the op that initialises every
    variable. It computes the values, so the file has no weights in it.
  collections 'variables', 'trainable_variables': VariableDefs. The optimizer's
    variables are in the first. Each variable has one `VarHandleOp` whose
    shared_name is its node name, and one `ReadVariableOp`, the snapshot.

Gradient ops are named for the forward op: `gradients/<forward op>_grad/...`.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping

import tensorflow as tf

from benchmarks.models import weights as weights_lib


@dataclasses.dataclass(frozen=True)
class Forward:
  """A forward pass in the default graph.

  Attributes:
    inputs: Placeholders by name.
    outputs: What inference returns, by name; unused in training.
    loss: float32 scalar in training, otherwise None.
    updates: New values of weights that the optimizer does not train, such as
      moving averages, by weight name; training only.
  """

  inputs: Mapping[str, tf.Tensor]
  outputs: Mapping[str, tf.Tensor]
  loss: tf.Tensor | None = None
  updates: Mapping[str, tf.Tensor] = dataclasses.field(default_factory=dict)


ForwardFn = Callable[[weights_lib.Weights], Forward]
OptimizerFn = Callable[[], tf.compat.v1.train.Optimizer]

# Both have variables of their own, as the models' users would have.
MOMENTUM = functools.partial(tf.compat.v1.train.MomentumOptimizer, momentum=0.9)
ADAM = tf.compat.v1.train.AdamOptimizer


def build(
  forward_fn: ForwardFn,
  *,
  training: bool,
  optimizer_fn: OptimizerFn,
  graph: tf.Graph | None = None,
  frozen: bool = True,
) -> tf.compat.v1.MetaGraphDef:
  """Returns one step of a model.

  Args:
    forward_fn: Makes the forward pass from the weights it is given. It is
      called once, with a new graph as the default one.
    training: Whether the step trains; `forward_fn` must then give a loss.
    optimizer_fn: Makes the optimizer, in the graph.
    graph: An empty graph to build in; None for a plain new one.
    frozen: Whether the weights are constants at inference.
  """
  with (graph or tf.Graph()).as_default() as graph:
    if not training:
      forward = forward_fn(
        weights_lib.Constants() if frozen else weights_lib.Variables()
      )
      if not frozen:
        _add_init_op(graph)
      return _export(graph, 'serve', forward.inputs, forward.outputs)
    weights = weights_lib.Variables()
    forward = forward_fn(weights)
    updates = _apply_gradients(forward.loss, weights, optimizer_fn())
    for name, value in forward.updates.items():
      with tf.name_scope(f'update/{name}'):
        variable = weights.variables[name]
        updates.append(variable.assign(value, read_value=False))
    graph.clear_collection('train_op')
    graph.add_to_collection('train_op', tf.group(updates, name='train_op'))
    _add_init_op(graph)
    return _export(graph, 'train', forward.inputs, {'loss': forward.loss})


def _add_init_op(graph: tf.Graph) -> None:
  init_op = tf.group(
    [v.initializer for v in tf.compat.v1.global_variables()], name='init_op'
  )
  graph.add_to_collection('init_op', init_op)


def _apply_gradients(
  loss: tf.Tensor,
  weights: weights_lib.Variables,
  optimizer: tf.compat.v1.train.Optimizer,
) -> list[tf.Operation]:
  """Returns ops that update the trainable variables and the optimizer's."""
  variables = [v for v in weights.variables.values() if v.trainable]
  # tf.gradients would pin each gradient to its forward op with `_class`.
  gradients = tf.compat.v1.gradients(
    loss,
    [weights_lib.snapshot(v) for v in variables],
    colocate_gradients_with_ops=False,
  )
  dense = [_dense(g, v) for g, v in zip(gradients, variables, strict=True)]
  return [optimizer.apply_gradients(zip(dense, variables, strict=True))]


def _dense(
  gradient: tf.Tensor | tf.IndexedSlices, variable: tf.compat.v1.Variable
) -> tf.Tensor:
  """Returns a gradient as a tensor of the variable's shape.

  The optimizers would add up the rows of an embedding with `Unique`, whose
  output has no static shape.
  """
  if not isinstance(gradient, tf.IndexedSlices):
    return gradient
  with tf.name_scope(f'gradients/{variable.op.name}_dense'):
    return tf.math.unsorted_segment_sum(
      gradient.values, gradient.indices, variable.shape[0]
    )


def _export(
  graph: tf.Graph,
  tag: str,
  inputs: Mapping[str, tf.Tensor],
  outputs: Mapping[str, tf.Tensor],
) -> tf.compat.v1.MetaGraphDef:
  collections = ('variables', 'trainable_variables', 'train_op', 'init_op')
  key = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
  if tag == 'train':
    key = 'train'
  graph_def = graph.as_graph_def()
  for node in graph_def.node:
    # A note of TensorFlow's to itself, on what has a control input.
    node.attr.pop('_has_manual_control_dependencies', None)
    if node.name.startswith('gradients/'):
      node.attr.pop('_class', None)  # Sums, tied to one of what they add.
  meta_graph_def = tf.compat.v1.train.export_meta_graph(
    graph=graph, graph_def=graph_def, collection_list=list(collections)
  )
  meta_graph_def.meta_info_def.tags.append(tag)
  signature = meta_graph_def.signature_def[key]
  signature.method_name = tf.saved_model.PREDICT_METHOD_NAME
  for tensors, infos in (
    (inputs, signature.inputs),
    (outputs, signature.outputs),
  ):
    for name, tensor in tensors.items():
      infos[name].name = tensor.name
      infos[name].dtype = tensor.dtype.as_datatype_enum
      infos[name].tensor_shape.CopyFrom(tensor.shape.as_proto())
  return meta_graph_def
