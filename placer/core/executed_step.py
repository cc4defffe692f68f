"""ExecutedStep: what one step really did, and when, from its trace.

Seconds count from the start of the first op.

`ExecutedOp`: one run of a node (an op in a loop has several).
  name: of the node, without the numbers that TensorFlow adds.
  type: 'MatMul', '_FusedConv2D'; '' where it is not known.
  device: full device name.

`ExecutedTransfer`: one tensor that went from one device to another.
  name: of the node that made it.
  source, target: full device names.
  bytes: its size.

Invariants, checked on construction: nothing ends before it starts.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class ExecutedOp:
  """One run of a node; see the module docstring."""

  name: str
  type: str
  device: str
  start_seconds: float
  end_seconds: float


@dataclasses.dataclass(frozen=True)
class ExecutedTransfer:
  """One tensor on its way; see the module docstring."""

  name: str
  source: str
  target: str
  bytes: int
  start_seconds: float
  end_seconds: float


@dataclasses.dataclass(frozen=True)
class ExecutedStep:
  """The ops and transfers of a step; see the module docstring."""

  ops: tuple[ExecutedOp, ...]
  transfers: tuple[ExecutedTransfer, ...] = ()

  def __post_init__(self) -> None:
    for each in (*self.ops, *self.transfers):
      if not each.end_seconds >= each.start_seconds:
        raise ValueError(f'{each.name} ends before it starts.')

  @property
  def seconds(self) -> float:
    """From the start of the first op to the last end; 0 without ops."""
    return max(
      (each.end_seconds for each in (*self.ops, *self.transfers)), default=0.0
    )
