"""OpGraph: the ops of one step and the tensors between them, as arrays.

Letters: `N` ops, `T` tensors (one per op output), `E` edges.

  names: N op paths (`op_path.py`), in topological order but for loop back
    edges.
  types: N op types, 'Conv2D'.
  tensor_source: int32 `[T]`, the op that makes the tensor; non-decreasing.
  tensor_bytes: int64 `[T]`, size in bytes; 0 for references and resource
    handles, which do not move.
  tensor_shape_known: bool `[T]`; False where a dimension had to be assumed.
  edge_source: int32 `[E]`, the op an edge leaves.
  edge_target: int32 `[E]`, the op an edge enters.
  edge_tensor: int32 `[E]`, the tensor it carries, or -1 for a control edge.
  edge_is_back: bool `[E]`, NextIteration -> Merge; left out of every order.
  flops: float64 `[N]`, floating point operations from static shapes.
  persistent_bytes: int64 `[N]`, bytes an op keeps between steps (variables,
    constants).
  original_devices: N device strings as the graph had them, '' for none.

Invariants, checked on construction: lengths agree, indices are in range, an
edge's tensor is made by the edge's source.
"""

import dataclasses
import functools
import hashlib

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class OpGraph:
  """The ops of one step; see the module docstring."""

  names: tuple[str, ...]
  types: tuple[str, ...]
  tensor_source: np.ndarray
  tensor_bytes: np.ndarray
  tensor_shape_known: np.ndarray
  edge_source: np.ndarray
  edge_target: np.ndarray
  edge_tensor: np.ndarray
  edge_is_back: np.ndarray
  flops: np.ndarray
  persistent_bytes: np.ndarray
  original_devices: tuple[str, ...]

  def __post_init__(self) -> None:
    ops, edges = len(self.names), len(self.edge_source)
    for field, length in (
      ('types', ops),
      ('flops', ops),
      ('persistent_bytes', ops),
      ('original_devices', ops),
      ('tensor_bytes', len(self.tensor_source)),
      ('tensor_shape_known', len(self.tensor_source)),
      ('edge_target', edges),
      ('edge_tensor', edges),
      ('edge_is_back', edges),
    ):
      if len(getattr(self, field)) != length:
        raise ValueError(
          f'{field} has {len(getattr(self, field))} entries, needs {length}.'
        )
    for field, limit in (
      ('tensor_source', ops),
      ('edge_source', ops),
      ('edge_target', ops),
      ('edge_tensor', len(self.tensor_source)),
    ):
      values = getattr(self, field)
      if len(values) and values.max() >= limit:
        raise ValueError(f'{field} has index {values.max()} of {limit}.')
    data = self.edge_tensor >= 0
    if not np.array_equal(
      self.tensor_source[self.edge_tensor[data]], self.edge_source[data]
    ):
      raise ValueError("An edge carries a tensor that its source doesn't make.")

  def __len__(self) -> int:
    return len(self.names)

  @functools.cached_property
  def index(self) -> dict[str, int]:
    """Op path -> index."""
    return {name: i for i, name in enumerate(self.names)}

  @functools.cached_property
  def edge_bytes(self) -> np.ndarray:
    """int64 `[E]`: the bytes an edge carries, 0 for control edges."""
    if not len(self.tensor_bytes):
      return np.zeros(len(self.edge_source), np.int64)
    return np.where(
      self.edge_tensor >= 0, self.tensor_bytes[self.edge_tensor], 0
    )

  @functools.cached_property
  def output_bytes(self) -> np.ndarray:
    """int64 `[N]`: the bytes of all outputs of an op."""
    return np.bincount(
      self.tensor_source, self.tensor_bytes, minlength=len(self)
    ).astype(np.int64)

  @functools.cached_property
  def fingerprint(self) -> str:
    """A hash of structure, types and sizes: the same graph, the same hash."""
    digest = hashlib.sha256()
    for texts in (self.names, self.types):
      digest.update('\n'.join(texts).encode() + b'\0')
    for array in (
      self.tensor_bytes,
      self.edge_source,
      self.edge_target,
      self.edge_tensor,
    ):
      digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
