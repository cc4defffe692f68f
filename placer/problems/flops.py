"""Floating point operations of an op from static shapes.

A multiply-add counts as two. Ops without a rule count one operation for each
output element; ops that only move or rename data count none.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from tensorflow.core.framework import node_def_pb2

Shape = Sequence[int]
_Rule = Callable[
  [node_def_pb2.NodeDef, Sequence[Shape], Sequence[Shape]], float
]

_FREE = frozenset((
    'Const', 'Identity', 'IdentityN', 'NoOp', 'Placeholder', 'Reshape',
    'VarHandleOp', 'ReadVariableOp', 'VariableV2', 'Variable', 'ExpandDims',
    'Squeeze', 'Shape', 'ShapeN', 'Rank', 'Size', 'StopGradient',
    'PreventGradient', 'Enter', 'Exit', 'Switch', 'Merge', 'NextIteration',
    'LoopCond', 'Concat', 'ConcatV2', 'Split', 'SplitV', 'Pack', 'Unpack',
    'Slice', 'StridedSlice', 'Gather', 'GatherV2', 'Transpose', 'Pad', 'Fill',
    'ZerosLike', 'OnesLike', 'Tile', 'Cast', 'BroadcastTo', 'Bitcast',
    'AssignVariableOp', 'Assign', 'ConcatOffset', 'BroadcastGradientArgs',
))  # fmt: skip
# Transcendental functions take several operations an element.
_HEAVY = dict.fromkeys(
    ('Exp', 'Log', 'Log1p', 'Tanh', 'Sigmoid', 'Softmax', 'LogSoftmax', 'Erf',
     'Gelu', 'Pow', 'Sqrt', 'Rsqrt', 'Softplus', 'Elu', 'Selu',
     'SparseSoftmaxCrossEntropyWithLogits', 'SoftmaxCrossEntropyWithLogits'),
    10.0,
)  # fmt: skip


def flops(
  node: node_def_pb2.NodeDef,
  inputs: Sequence[Shape],
  outputs: Sequence[Shape],
) -> float:
  """The floating point operations of one run of an op.

  Args:
    node: the op.
    inputs: shapes of its data inputs, all dimensions known or assumed.
    outputs: shapes of its outputs, likewise.

  Returns:
    A count; an estimate for ops without a rule.
  """
  if node.op in _FREE:
    return 0.0
  rule = _RULES.get(node.op)
  if rule is not None and outputs and inputs:
    try:
      return rule(node, inputs, outputs)
    except IndexError:  # unknown rank was taken as a scalar
      pass
  size = max((math.prod(shape) for shape in (*outputs, *inputs)), default=0)
  return _HEAVY.get(node.op, 1.0) * size


def _conv(node, inputs, outputs) -> float:
  # Each output element is a dot product over the filter but its last axis.
  return 2.0 * math.prod(outputs[0]) * math.prod(inputs[1][:-1])


def _depthwise(node, inputs, outputs) -> float:
  return 2.0 * math.prod(outputs[0]) * inputs[1][0] * inputs[1][1]


def _conv_grad_input(node, inputs, outputs) -> float:
  # inputs: sizes, filter, gradient; the forward count with roles exchanged.
  return 2.0 * math.prod(inputs[2]) * math.prod(inputs[1][:-1])


def _conv_grad_filter(node, inputs, outputs) -> float:
  return 2.0 * math.prod(inputs[2]) * math.prod(outputs[0][:-1])


def _depthwise_grad_input(node, inputs, outputs) -> float:
  return 2.0 * math.prod(inputs[2]) * inputs[1][0] * inputs[1][1]


def _depthwise_grad_filter(node, inputs, outputs) -> float:
  return 2.0 * math.prod(inputs[2]) * outputs[0][0] * outputs[0][1]


def _matmul(node, inputs, outputs) -> float:
  axis = 0 if node.attr['transpose_a'].b else 1
  return 2.0 * math.prod(outputs[0]) * inputs[0][axis]


def _batch_matmul(node, inputs, outputs) -> float:
  axis = -2 if node.attr['adj_x'].b else -1
  return 2.0 * math.prod(outputs[0]) * inputs[0][axis]


def _pool(node, inputs, outputs) -> float:
  window = math.prod(node.attr['ksize'].list.i)
  return float(math.prod(outputs[0]) * window)


def _einsum(node, inputs, outputs) -> float:
  """Every index that is not in the output is summed over."""
  left, _, right = node.attr['equation'].s.decode().partition('->')
  sizes: dict[str, int] = {}
  for term, shape in zip(left.split(','), inputs, strict=False):
    sizes.update(zip(term.replace('...', ''), reversed(shape), strict=False))
    sizes.update(zip(term.replace('.', ''), shape, strict=False))
  summed = set(left) - set(right) - set('.,')
  return (
    2.0
    * math.prod(outputs[0])
    * math.prod(sizes.get(letter, 1) for letter in summed)
  )


_RULES: Mapping[str, _Rule] = {
  'Conv2D': _conv,
  'Conv3D': _conv,
  '_FusedConv2D': _conv,
  'Conv2DBackpropInput': _conv_grad_input,
  'Conv3DBackpropInputV2': _conv_grad_input,
  'Conv2DBackpropFilter': _conv_grad_filter,
  'Conv3DBackpropFilterV2': _conv_grad_filter,
  'DepthwiseConv2dNative': _depthwise,
  'DepthwiseConv2dNativeBackpropInput': _depthwise_grad_input,
  'DepthwiseConv2dNativeBackpropFilter': _depthwise_grad_filter,
  'MatMul': _matmul,
  '_FusedMatMul': _matmul,
  'BatchMatMul': _batch_matmul,
  'BatchMatMulV2': _batch_matmul,
  'BatchMatMulV3': _batch_matmul,
  'MaxPool': _pool,
  'AvgPool': _pool,
  'Einsum': _einsum,
}
