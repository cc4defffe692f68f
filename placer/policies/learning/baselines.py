"""What is taken from a return to get its advantage; numpy, with state.

`state()` gives all of the state as arrays and `set_state` takes it back, so
that a checkpoint can keep it and a resumed run goes on to the bit.
"""

from collections.abc import Mapping

import numpy as np


class EmaBaseline:
  """The exponential moving average of all rewards; None at first.

  Attributes:
    value: float, or None before the first update.
  """

  def __init__(self, decay: float = 0.9) -> None:
    """Makes a baseline.

    Args:
      decay: weight of the past, 0 … 1 (grappler's old placer: 0.9).
    """
    self._decay = decay
    self.value: float | None = None

  def advantages(self, rewards: np.ndarray) -> np.ndarray:
    """Rewards less the baseline; at first less their own mean.

    Args:
      rewards: float `[B]`.

    Returns:
      float64 `[B]`.
    """
    rewards = np.asarray(rewards, np.float64)
    base = rewards.mean() if self.value is None else self.value
    return rewards - base

  def update(self, rewards: np.ndarray) -> None:
    """Learns rewards; float `[B]`, counted as one step by their mean."""
    mean = float(np.mean(rewards))
    if self.value is None:
      self.value = mean
    else:
      self.value = self._decay * self.value + (1 - self._decay) * mean

  def state(self) -> dict[str, np.ndarray]:
    """All of the state."""
    return {'value': np.array([] if self.value is None else [self.value])}

  def set_state(self, state: Mapping[str, np.ndarray]) -> None:
    """The inverse of `state`."""
    values = np.asarray(state['value'])
    self.value = float(values[0]) if len(values) else None


class PerStepBaseline:
  """The mean return-to-go at each step over a graph's last episodes.

  Placeto (papers.md §1): the same graph's last k episodes, k = 10 in its
  released code. Graphs are told apart by a number.
  """

  def __init__(self, window: int = 10) -> None:
    """Makes a baseline.

    Args:
      window: k, episodes of a graph that are remembered.
    """
    self._window = window
    self._returns: dict[int, np.ndarray] = {}

  def advantages(self, returns: np.ndarray, graph: int = 0) -> np.ndarray:
    """Returns less the baseline; at first less their own mean.

    Args:
      returns: float `[B, S]`, the return-to-go of each step.
      graph: which graph the episodes are of.

    Returns:
      float64 `[B, S]`.
    """
    returns = np.asarray(returns, np.float64)
    return returns - self._known(returns, graph).mean(axis=0)

  def value(self, graph: int = 0) -> np.ndarray | None:
    """float64 `[S]`: the baseline of a graph, None before its first update."""
    known = self._returns.get(graph)
    return None if known is None else known.mean(axis=0)

  def update(self, returns: np.ndarray, graph: int = 0) -> None:
    """Learns episodes.

    Args:
      returns: float `[B, S]`, in the order in which they were played.
      graph: which graph they are of.
    """
    returns = np.asarray(returns, np.float64)
    known = self._returns.get(graph)
    rows = returns if known is None else np.concatenate([known, returns])
    self._returns[graph] = rows[-self._window :].copy()

  def state(self) -> dict[str, np.ndarray]:
    """All of the state."""
    return {str(graph): rows for graph, rows in self._returns.items()}

  def set_state(self, state: Mapping[str, np.ndarray]) -> None:
    """The inverse of `state`."""
    self._returns = {
      int(graph): np.array(rows, np.float64) for graph, rows in state.items()
    }

  def _known(self, returns: np.ndarray, graph: int) -> np.ndarray:
    return self._returns.get(graph, returns)
