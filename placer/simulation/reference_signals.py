"""Signals: what goes from op to op, for the reference.

A signal is a pair (op, output): output is the index of a tensor, or `CONTROL`
for all control edges of the op.
"""

import collections
import math

from placer.core import cost_model as cost_model_lib
from placer.core import link_costs
from placer.core import placement_problem

CONTROL = math.inf  # behind all tensors
_Signal = tuple[int, float]


class Signals:
  """The signals of a graph and what they cost.

  Attributes:
    readers: {signal: the ops that read it, ascending}, by op and output.
    inputs: of each op, the set of signals it reads.
    of_op: of each op, its signals that somebody reads, in order.
    tensors: of each op, its tensors, in order.
  """

  def __init__(
    self,
    problem: placement_problem.PlacementProblem,
    costs: cost_model_lib.CostModel,
  ) -> None:
    self.graph = problem.graph
    self.costs = costs
    graph = self.graph
    readers = collections.defaultdict(set)
    self.inputs = [set() for _ in graph.names]
    for source, target, tensor, is_back in zip(
      graph.edge_source.tolist(),
      graph.edge_target.tolist(),
      graph.edge_tensor.tolist(),
      graph.edge_is_back.tolist(),
      strict=True,
    ):
      if not is_back:
        signal = (source, tensor if tensor >= 0 else CONTROL)
        readers[signal].add(target)
        self.inputs[target].add(signal)
    self.readers = {key: sorted(readers[key]) for key in sorted(readers)}
    self.of_op = [[] for _ in graph.names]
    for signal in self.readers:
      self.of_op[signal[0]].append(signal)
    self.tensors = [[] for _ in graph.names]
    for tensor, op in enumerate(graph.tensor_source.tolist()):
      self.tensors[op].append(tensor)

  def links(self, signal: _Signal, source: int) -> link_costs.LinkCosts:
    """The links that a signal takes from the device `source`."""
    tensor = signal[1]
    if tensor != CONTROL and self.costs.host_output[tensor, source]:
      return self.costs.host_links
    return self.costs.links

  def service(
    self, signal: _Signal, source: int, target: int, stage: str
  ) -> float | None:
    """Seconds of a service; None where it costs nothing.

    Args:
      signal: what is sent.
      source: device that it comes from.
      target: device that it goes to.
      stage: 'send' or 'receive'.
    """
    links = self.links(signal, source)
    message = getattr(links, f'{stage}_seconds_per_message')[source, target]
    byte = getattr(links, f'{stage}_seconds_per_byte')[source, target]
    if not message and not byte:
      return None
    sends, size = self.sends(signal), self.size(signal)
    return sends * float(message) + size * sends * float(byte)

  def size(self, signal: _Signal) -> int:
    """Bytes of one send."""
    tensor = signal[1]
    return 0 if tensor == CONTROL else int(self.graph.tensor_bytes[tensor])

  def sends(self, signal: _Signal) -> int:
    """Sends a step."""
    op, tensor = signal
    if tensor != CONTROL:
      return int(self.costs.tensor_sends[tensor])
    runs = self.costs.op_runs
    return int(min(runs[op], max(runs[self.readers[signal]])))

  def shared(self, signal: _Signal) -> _Signal | None:
    """The signal whose buffer one shares, or None."""
    if signal[1] == CONTROL or self.costs.shares_tensor[signal[1]] < 0:
      return None
    tensor = int(self.costs.shares_tensor[signal[1]])
    return int(self.graph.tensor_source[tensor]), tensor
