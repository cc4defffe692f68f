"""Work: what ops take wherever they run, and at prices.

Where devices differ, an op's work counts at prices: slots have prices that add
up to 1, and each op takes the cheapest device. The sum is a bound on the step
for any prices (linear programming duality); good ones are searched for. An op's
work is its time and the gap after it. `N` ops, `D` devices, `P` prices.
"""

import numpy as np

from placer.policies import planning_graph

_STEPS_OF_PRICES = 200


class Work:
  """Times of ops wherever they run; see the module docstring.

  Attributes:
    may: bool `[N, D]`, where an op can run.
    hold: float64 `[N]`, its time on the fastest device.
    busy: float64 `[N, D]`, time and gap, inf where it cannot run.
    gap: float64 `[D]`, the largest gap.
    priced: list of float64 `[N]`, parts of all slots' time.
    slack: list of floats, the gaps that may lie beyond, at those prices.
  """

  def __init__(self, graph: planning_graph.PlanningGraph) -> None:
    self.may = graph.op_allowed & np.isfinite(graph.hold_seconds)
    hold = np.where(self.may, graph.hold_seconds, np.inf)
    self.hold = hold.min(axis=1)
    self.hold[np.isinf(self.hold)] = 0.0
    self.busy = hold + graph.gap_seconds
    # An op that runs nowhere makes every placement fail: any bound is valid.
    self.busy[~self.may.any(axis=1)] = 0.0
    self.gap = graph.gap_seconds.max(axis=0, initial=0.0)
    self.priced, self.slack = [], []
    for prices in _prices(self.busy, graph.slots):
      self.priced.append((self.busy * prices).min(axis=1))
      self.slack.append(float((prices * graph.slots * self.gap).sum()))

  def reversed(self) -> 'Work':
    """The same of the ops in reversed order."""
    other = object.__new__(Work)
    other.may, other.hold = self.may[::-1], self.hold[::-1]
    other.busy, other.gap = self.busy[::-1], self.gap
    other.priced = [priced[::-1] for priced in self.priced]
    other.slack = self.slack
    return other


def prices(graph: planning_graph.PlanningGraph) -> np.ndarray:
  """Good prices of the slots of each device.

  Args:
    graph: N ops on D devices.

  Returns:
    float64 `[P, D]`; slots at each of them add up to 1.
  """
  return np.stack(_prices(Work(graph).busy, graph.slots))


def _prices(busy: np.ndarray, slots: np.ndarray) -> list[np.ndarray]:
  """float64 `[D]` each: prices of a slot of each device; they add up to 1."""
  equal = np.full(len(slots), 1 / slots.sum())
  if (busy == busy[:, :1]).all():
    return [equal]
  # Raise the price of what too much is on, and keep the best that were seen.
  logs, best, value = np.log(equal), equal, -np.inf
  for step in range(_STEPS_OF_PRICES):
    prices = np.exp(logs)
    prices /= (prices * slots).sum()
    cost = busy * prices
    total = cost.min(axis=1).sum()
    if total > value:
      best, value = prices, total
    chosen = cost.argmin(axis=1)
    load = np.bincount(
      chosen, busy[np.arange(len(busy)), chosen], minlength=len(slots)
    )
    load = load / np.maximum(slots, 1)
    logs = logs + 0.5 / (1 + step / 10) * (load / max(load.max(), 1e-30) - 0.5)
  return [equal, best]
