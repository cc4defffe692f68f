"""SignalGraph: the edges of an OpGraph as the simulator sees them.

Letters: `N` ops, `T` signals, `R` readers. A *signal* is a tensor that some op
reads, or all control edges of an op, as one tensor of no bytes. Back edges are
left out. Signals are numbered in the order of their ops, those of an op by its
outputs, its control signal last. An op that reads a signal twice counts once.

  tensor: int32 `[T]`, the tensor of the OpGraph, or -1 for a control signal.
  source: int32 `[T]`, the op that makes it; non-decreasing.
  first_signal: int32 `[N + 1]`, op i makes first_signal[i] to [i + 1].
  readers: int32 `[R]`, ops, by signal and op.
  first_reader: int32 `[T + 1]`, likewise.
  inputs: int32 `[R]`, signals, by op and signal.
  first_input: int32 `[N + 1]`, likewise.
"""

import dataclasses

import numpy as np

from placer.core import op_graph


@dataclasses.dataclass(frozen=True, eq=False)
class SignalGraph:
  """Edges by signal and by op; see the module docstring."""

  tensor: np.ndarray
  source: np.ndarray
  first_signal: np.ndarray
  readers: np.ndarray
  first_reader: np.ndarray
  inputs: np.ndarray
  first_input: np.ndarray

  def __len__(self) -> int:
    return len(self.tensor)

  def of_tensors(self, num_tensors: int) -> np.ndarray:
    """int32 `[num_tensors]`: the signal of each tensor, -1 if nobody reads."""
    signals = np.full(num_tensors, -1, np.int32)
    data = np.flatnonzero(self.tensor >= 0)
    signals[self.tensor[data]] = data
    return signals


def build(graph: op_graph.OpGraph) -> SignalGraph:
  """The SignalGraph of an OpGraph.

  Args:
    graph: N ops.

  Returns:
    The SignalGraph.

  Raises:
    ValueError: an edge that is no back edge does not go from an earlier op to
      a later one.
  """
  keep = np.flatnonzero(~graph.edge_is_back)
  source = graph.edge_source[keep].astype(np.int64)
  target = graph.edge_target[keep].astype(np.int64)
  wrong = np.flatnonzero(source >= target)
  if len(wrong):
    raise ValueError(
      f'The edge from {graph.names[source[wrong[0]]]!r} to '
      f'{graph.names[target[wrong[0]]]!r} goes backwards, but is not marked '
      'as a back edge.'
    )
  count = len(graph.tensor_bytes)
  tensor = graph.edge_tensor[keep].astype(np.int64)
  # The number of a tensor, or of a control signal behind all of its op.
  output = np.where(tensor >= 0, tensor, count)
  keys = np.unique(np.stack([source, output, target]), axis=1)
  pairs, signal = np.unique(keys[:2], axis=1, return_inverse=True)
  signal, target = signal.reshape(-1), keys[2]
  by_op = np.lexsort((signal, target))
  return SignalGraph(
    tensor=np.where(pairs[1] < count, pairs[1], -1).astype(np.int32),
    source=pairs[0].astype(np.int32),
    first_signal=_starts(pairs[0], len(graph)),
    readers=target.astype(np.int32),
    first_reader=_starts(signal, pairs.shape[1]),
    inputs=signal[by_op].astype(np.int32),
    first_input=_starts(target[by_op], len(graph)),
  )


def _starts(ordered: np.ndarray, count: int) -> np.ndarray:
  """int32 `[count + 1]`: where each value begins in ascending values."""
  return np.searchsorted(ordered, np.arange(count + 1)).astype(np.int32)
