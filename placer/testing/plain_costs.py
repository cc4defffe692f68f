"""Costs that are easy to reckon with by hand."""

import numpy as np

from placer.core import cost_model
from placer.core import link_costs
from placer.core import placement_problem


def costs(
  problem: placement_problem.PlacementProblem,
  seconds: np.ndarray | float = 1.0,
  **options,
) -> cost_model.CostModel:
  """A message takes 10 s and 1 s a million bytes.

  Args:
    problem: N ops on D devices.
    seconds: of each op, or float `[N]`.
    **options: of `cost_model.build`.
  """
  count = len(problem.devices)
  zeros = np.zeros((count, count))
  links = link_costs.LinkCosts(
    latency_seconds=zeros + 10.0,
    message_seconds=zeros,
    bytes_per_second=zeros + 1e6,
    send_seconds_per_message=zeros,
    send_seconds_per_byte=zeros,
    receive_seconds_per_message=zeros,
    receive_seconds_per_byte=zeros,
    channel=np.arange(count * count, dtype=np.int32).reshape(count, count),
  )
  options.setdefault('links', links)
  return cost_model.build(
    problem.graph,
    problem.devices,
    np.broadcast_to(np.asarray(seconds, float), len(problem.graph)),
    **options,
  )
